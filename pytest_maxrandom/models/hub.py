"""Whether a model can be had from the Hugging Face hub, told within seconds."""

from __future__ import annotations

from pytest_maxrandom.errors import ModelError

_PATIENCE = 10.0  # seconds


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
