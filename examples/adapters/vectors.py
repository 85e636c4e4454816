"""Word vectors as a library reads them; for the adapters beside it."""
import atexit
import gzip
import os
import tempfile


def rewritten(path, header):
    """A file with the words of path, .gz or not: with the header "words dimension" or without one.

    It is path itself where that is so already, else a temporary file.
    """
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        lines = f.readlines()
    has = len(lines[0].split()) == 2
    if has == header and not path.endswith(".gz"):
        return path
    words = lines[has:]
    top = [f"{len(words)} {len(words[0].split()) - 1}\n"] if header else []
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt", delete=False) as f:
        f.writelines(top + words)
    atexit.register(os.unlink, f.name)
    return f.name
