"""Models on the Hugging Face hub: whether one can be had, and which commit a session means."""

from __future__ import annotations

from pathlib import Path

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.locks import agreed

_PATIENCE = 10.0  # seconds
_pins: dict[tuple[str, str | None], str] = {}
_session = ""


def begin(session: str = "") -> None:
    """Forget which commits were meant.

    Parameters
    ----------
    session : str, optional
        What several processes of one session have in common; they will mean the same commits.
    """
    global _session
    _pins.clear()
    _session = session


def pinned(name: str, revision: str | None, holds: str) -> str:
    """Return the commit that a session means: what a branch or tag was when it was first asked for.

    Where the hub is out of reach that is the one of its cache.

    Parameters
    ----------
    name : str
        Hub id of a model or adapter.
    holds : str
        A file that it must hold.

    Raises
    ------
    ModelError
        In one sentence.
    """
    key = name, revision
    if key not in _pins:
        if _session:
            asked = f"{_session} {name}@{revision}"
            _pins[key] = agreed(asked, lambda: _commit(name, revision, holds))
        else:
            _pins[key] = _commit(name, revision, holds)
    return _pins[key]


def _commit(name: str, revision: str | None, holds: str) -> str:
    check_reachable(name, revision, holds)
    from huggingface_hub import hf_hub_download

    try:
        found = hf_hub_download(name, holds, revision=revision)
    except Exception as error:  # the HTTP library's own errors have no base in common with ours
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ModelError(
            f"the {holds} of {name} cannot be had from the hub ({reason}); expected what "
            "save_pretrained writes"
        ) from error
    return Path(found).parent.name


def check_reachable(name: str, revision: str | None = None, holds: str = "config.json") -> None:
    """Refuse a model or adapter that is neither in the cache nor on a hub that answers.

    The loader itself asks again and again for most of a minute before it gives up, and then cannot
    tell that a folder was meant.

    Parameters
    ----------
    name : str
        Hub id.
    holds : str
        A file that is in the cache if anything of it is.

    Raises
    ------
    ModelError
        In one sentence.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(try_to_load_from_cache(name, holds, revision=revision), str):
        return
    absent = f"there is no folder {name} (relative to the suite file), and the hub"
    try:
        HfApi().model_info(name, revision=revision, timeout=_PATIENCE)
    except RevisionNotFoundError as error:
        raise ModelError(f"{name} has no revision {revision} on the hub") from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"{absent} has no public model of that name; check the name, or log in with "
            "`hf auth login`"
        ) from error
    except Exception as error:  # the HTTP library's own errors have no base in common with ours
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ModelError(
            f"{absent} cannot be reached ({reason}); check the name and the network"
        ) from error
