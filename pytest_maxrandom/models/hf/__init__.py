"""Models of transformers, quantized by bitsandbytes."""
