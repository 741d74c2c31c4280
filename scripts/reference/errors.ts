import { ERRORS } from "../../packages/gateway/src/lib/app-error.ts";
import { MESSAGES } from "../../packages/wire/src/index.ts";
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
  const management = Object.entries(MESSAGES).map(([name, { status, text }]) => [code(name), String(status), text]);
  return page(
    "Errors",
    "packages/gateway/src/lib/app-error.ts and packages/wire/src/core/messages.ts",
    "## Model calls",
    "`error.code` of the answer, in the envelope of the caller's protocol. Failures of an upstream keep the upstream's own code and message, as far as they hold no credentials.",
    table(["Code", "Status", "At fault", "Message"], relay),
    "## Management API",
    "`code` beside `message` in the envelope. Status 200 is the rule for business refusals: `success` is false then.",
    table(["Code", "Status", "Message"], management),
  );
}
