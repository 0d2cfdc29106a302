"""The wheel alone: built, installed without the checkout, and used."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheel")  # it is built and installed once
ROOT = Path(__file__).parents[2]
PREAMBLE = "import sys; sys.path[:0] = [{wheel!r}]; sys.path.append({packages!r}); "


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds."""
    built, target = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("installed")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)], ROOT)
    (found,) = built.glob("remit-*.whl")
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(found)], built)
    return target


def _run(argv: list[str], folder: Path) -> str:
    ran = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=100)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _python(wheel: Path, code: str, folder: Path) -> str:
    """Run code that sees the wheel and the dependencies, and no path file, so that the checkout is out of sight."""
    preamble = PREAMBLE.format(wheel=str(wheel), packages=sysconfig.get_paths()["purelib"])
    return _run([sys.executable, "-S", "-c", preamble + code], folder)


def test_the_wheel_holds_nothing_but_remit(wheel: Path) -> None:
    """No top-level name but `remit`, where `supervisor` or `workers` would collide with other packages."""
    assert {each.name for each in wheel.iterdir() if not each.name.endswith(".dist-info")} == {"remit", "bin"}


def test_the_wheel_runs_its_commands_and_finds_its_roles(wheel: Path, tmp_path: Path) -> None:
    """Commands work and the roles are found inside `remit`, where the wheel put them."""
    shown = _python(wheel, "from remit.cli.entry import run; sys.exit(run(['schemas', 'list', '--json']))", tmp_path)
    assert len(json.loads(shown)) == 13
    code = (
        "from remit.roles import role; "
        "print(*(role(each).__name__ for each in ('supervisor.service', 'workers', 'projector', 'simulator')))"
    )
    roles = ["remit.supervisor.service", "remit.workers", "remit.projector", "remit.simulator"]
    assert _python(wheel, code, tmp_path).split() == roles
    simulated = _python(wheel, "from remit.cli.entry import run; sys.exit(run(['simulate', '--seeds', '3']))", tmp_path)
    assert "3 histories" in simulated


def test_formats_are_checked_with_what_the_plain_install_brings(wheel: Path, tmp_path: Path) -> None:
    """VALID-1: nonsense in a format is refused with its path; no extra is needed, and a remark would be too little."""
    code = (
        "import json; from remit.policy.output_schemas import validate_output; "
        "formats = ('date-time', 'uri', 'uuid', 'email'); "
        "schema = lambda each: json.dumps({'type': 'object', 'required': ['a'], "
        "'properties': {'a': {'type': 'string', 'format': each}}}); "
        "print(*(line for each in formats for line in validate_output(schema(each), {'a': 'no: sense {'})), sep='\\n')"
    )
    assert _python(wheel, code, tmp_path).splitlines() == [
        f"output.a is not a valid {each}" for each in ("date-time", "uri", "uuid", "email")
    ]
