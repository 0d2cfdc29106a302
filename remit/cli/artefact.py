"""`remit artefact`: put a file into the artefact store, and let a name stand for it. The registry names it."""

from pathlib import Path

import click

from remit.artefacts import ArtefactStore
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json
from remit.client.references import store_file
from remit.contract.references import artefact_reference


@click.group()
def artefact() -> None:
    """Store files that contracts refer to."""


@artefact.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--alias", help="Let artefact://ALIAS stand for it, such as requirements/781.")
@json_option
@pass_invocation
def put(invocation: Invocation, file: Path, alias: str | None, as_json: bool) -> None:
    """Store FILE and print its reference. A file that holds what looks like a secret is refused."""
    store = ArtefactStore(invocation.settings.artefact_url)
    digest, size = store_file(store, file.parent, file.name)
    if alias is not None:
        store.name(alias, digest)
    reference = artefact_reference(digest)
    if as_json:
        print_json({"reference": reference, "sha256": digest, "size": size, "alias": alias})
    else:
        click.echo(reference)
