"""What a result's numbers were computed with."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_maxrandom.stats.seeding import digest


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What determines a number besides model, prompt and example.

    Batch sizes, threads and free memory are no part of it: what they change is within the
    tolerance by which engines are compared.
    """

    processor: str
    """Kind of the GPU, or of the processor with the features by which libraries choose kernels."""
    kernels: str
    """Of the layers that hold most weights: torch's, or bitsandbytes' on one of its paths."""
    versions: dict[str, str]
    """Of the libraries that compute."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all of it."""
        versions = [part for pair in sorted(self.versions.items()) for part in pair]
        return digest(self.processor, self.kernels, *versions)
