"""Serve a GGUF file with the server of llama.cpp, as the package xllamacpp carries it.

    python tools/llama_server.py FILE.gguf --alias NAME --port 8001

It ends with its process. `tools/servers.py run llama_cpp` calls it in that package's environment.
"""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

import xllamacpp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--alias", help="the model's name; default: that of the file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--ctx-size", type=int, default=4096, help="tokens of the longest text")
    parser.add_argument(
        "--parallel", type=int, default=1, help="requests that are under way at once"
    )
    parser.add_argument("--threads", type=int, default=0, help="default: as many as cores")
    parser.add_argument("--ubatch-size", type=int, default=0, help="tokens that are read at a time")
    parser.add_argument(
        "--float16-cache", action="store_true",
        help="keys and values in float16, and flash attention, as llama-server by itself",
    )  # fmt: skip
    given = parser.parse_args()
    asked = xllamacpp.CommonParams()
    asked.model.path = str(given.model)
    asked.model_alias = {given.alias or given.model.name}
    asked.hostnames, asked.port = [given.host], given.port
    # One where a model was trained on shorter texts takes these.
    asked.n_ctx, asked.n_parallel = given.ctx_size * given.parallel, given.parallel
    asked.fit_params = False
    if given.threads:
        asked.cpuparams.n_threads = given.threads
    if given.ubatch_size:
        asked.n_ubatch = given.ubatch_size
    if not given.float16_cache:
        # What float16 and another order of sums leave out is no part of the model.
        asked.cache_type_k = asked.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        asked.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = xllamacpp.Server(asked)
    print(f"listening at {server.listening_address}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
