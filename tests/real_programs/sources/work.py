import hashlib
import json
import re


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


words = {str(i): [i, i * i] for i in range(200_000)}
text = json.dumps(words)
print(fib(26), len(text), len(re.findall(r"\d*7\d*", text)), hashlib.sha256(text.encode()).hexdigest())
raise SystemExit(3)
