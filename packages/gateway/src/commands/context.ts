import type { Env } from "../config/env.ts";
import type { Network } from "../lib/net/network.ts";
import type { Logger } from "../observability/log.ts";

export interface CommandContext {
  readonly env: Env;
  readonly log: Logger;
  readonly network: Network;
  readonly print: (line: string) => void;
}

export type Command = (args: readonly string[], context: CommandContext) => Promise<void>;
