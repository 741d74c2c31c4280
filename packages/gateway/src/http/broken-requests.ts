import type { Server } from "node:http";
import type { Duplex } from "node:stream";

interface Refusal {
  readonly status: string;
  readonly code: string;
  readonly message: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    code: "headers_too_large",
    message: "The headers exceed 16 KiB.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: "408 Request Timeout",
    code: "request_timeout",
    message: "The request did not arrive in time.",
  },
};
const MALFORMED: Refusal = {
  status: "400 Bad Request",
  code: "malformed_request",
  message: "The request is not valid HTTP.",
};

/**
 * Answers requests that the parser refuses: no route is known yet, so the envelope is the one that most clients read.
 */
export function answerBrokenRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    refuse(socket, REFUSALS[error.code ?? ""] ?? MALFORMED);
  });
}

/** Ends the connection of a request that servers may understand differently. */
export function refuseAmbiguous(socket: Duplex): void {
  refuse(socket, MALFORMED);
}

function refuse(socket: Duplex, { status, code, message }: Refusal): void {
  const body = JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code } });
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
