import { ERRORS } from "../../packages/gateway/src/lib/app-error.ts";
import { MESSAGE_CODES, MESSAGES, type MessageKey } from "../../packages/wire/src/index.ts";
import { code, page, table } from "./markdown.ts";

interface Entry {
  readonly status: number;
  readonly message: string;
  readonly origin?: string;
}

export function errors(): string {
  const relay = Object.entries<Entry>(ERRORS).map(([name, { status, message, origin }]) => [
    code(name),
    String(status),
    origin ?? (status >= 500 ? "gateway" : "client"),
    message,
  ]);
  const management = (Object.keys(MESSAGES) as MessageKey[]).map((key) => [
    code(MESSAGE_CODES[key]),
    code(key),
    String(MESSAGES[key].status),
    MESSAGES[key].text,
  ]);
  return page(
    "Errors",
    "packages/gateway/src/lib/app-error.ts and packages/wire/src/core/message-codes.ts",
    "## Model calls",
    "`error.code` of the answer, in the envelope of the caller's protocol. Failures of an upstream keep the upstream's own code and message, as far as they hold no credentials.",
    table(["Code", "Status", "At fault", "Message"], relay),
    "## Management API",
    "The envelope has `code` next to `message`; the code of the gateway uses the name. Business refusals have status 200 and `success` is false.",
    table(["Code", "Name", "Status", "Message"], management),
  );
}
