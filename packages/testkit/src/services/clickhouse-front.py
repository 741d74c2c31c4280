"""ClickHouse's HTTP interface in front of its engine as a Python module, for tests.

Usage: clickhouse-front.py FOLDER PORT. It runs one statement at a time. The account `default` needs no password; every
other one is refused.
"""

import base64
import gzip
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
ENGINE = session.Session(FOLDER)
LOCK = threading.Lock()

# Parameters of a request that are no settings.
OTHERS = {"query", "database", "default_format", "query_id", "session_id", "session_timeout", "user", "password", "role"}
OTHERS |= {"enable_http_compression", "wait_end_of_query", "compress", "decompress", "send_progress_in_http_headers"}


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def run(statement, form):
    return ENGINE.query(statement, form).bytes()


# What the last request set: a statement of the engine costs more than those of most tests.
applied = {"database": "default"}


def apply(settings):
    """Sets what this request asks for, and takes back what an earlier one asked for."""
    for name in [name for name in applied if name not in settings]:
        run(f"set {name} = default", "Null")
        del applied[name]
    for name, value in settings.items():
        if applied.get(name) == value:
            continue
        run(f"use {value}" if name == "database" else f"set {name} = {quoted(value)}", "Null")
        applied[name] = value


def execute(parameters, statement, form):
    settings = {name: value for name, value in parameters.items() if name not in OTHERS and not name.startswith("param_")}
    for name, value in parameters.items():
        if name.startswith("param_"):
            run(f"set {name} = {quoted(value)}", "Null")
    apply({**settings, "database": parameters.get("database", "default")})
    return run(statement, form)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def account(self):
        head = self.headers.get("Authorization", "")
        if head.startswith("Basic "):
            return base64.b64decode(head[6:]).decode().split(":")[0]
        return self.headers.get("X-ClickHouse-User", "default")

    def do_GET(self):
        if urlsplit(self.path).path == "/ping":
            self.answer(200, b"Ok.\n")
        else:
            self.do_POST()

    def do_POST(self):
        parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.read_body()
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        statement = parameters.get("query", "").encode()
        statement = (statement + b"\n" + body if statement else body).decode()
        form = self.headers.get("X-ClickHouse-Format") or parameters.get("default_format") or "TabSeparated"
        asked = re.search(r"\bformat\s+(\w+)\s*;?\s*$", statement, re.IGNORECASE)
        if asked and not re.match(r"\s*insert\b", statement, re.IGNORECASE):
            form = asked[1]
        try:
            if self.account() != "default":
                raise RuntimeError(
                    f"Code: 516. DB::Exception: {self.account()}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)"
                )
            with LOCK:
                result = execute(parameters, statement, form)
        except Exception as error:
            text = str(error)
            code = re.search(r"Code: (\d+)", text)
            status = {"516": 403, "497": 403, "60": 404, "81": 404}.get(code[1] if code else "", 500)
            self.answer(status, text.encode(), {"X-ClickHouse-Exception-Code": code[1] if code else "1002"})
            return
        self.answer(200, bytes(result), {"X-ClickHouse-Format": form, "X-ClickHouse-Summary": "{}"})

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status, body, headers={}):
        isZipped = "gzip" in self.headers.get("Accept-Encoding", "") and "enable_http_compression=1" in self.path
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=UTF-8")
        for name, value in headers.items():
            self.send_header(name, value)
        if isZipped:
            body = gzip.compress(body, 1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


server = Server(("127.0.0.1", PORT), Handler)
print("ready for statements", flush=True)
server.serve_forever()
