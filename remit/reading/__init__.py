"""Reading the views: the published copy, its freshness, its words. The command line and the projector import it.

The projector alone writes the database; everybody else opens the copy that it publishes, and blocks nobody.
"""

from remit.reading.copy import Answer, Column, Copy, Freshness, Relation, open_copy
from remit.reading.files import ViewFiles, view_files

__all__ = ["Answer", "Column", "Copy", "Freshness", "Relation", "ViewFiles", "open_copy", "view_files"]
