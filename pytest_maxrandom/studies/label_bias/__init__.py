"""Whether a claim's best prompt knows answers, or prefers a label: an item of its own."""
