import type { Output } from "../print/output.ts";
import type { Session, SessionClient } from "../session/session.ts";

/** What a command sees of the process. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly width: number | undefined;
  readonly isTerminal: boolean;
  readonly nowSeconds: () => number;
  /** Prints times in UTC from now on. */
  useUtc(): void;
  /** Data as they are, without a line end. */
  write(text: string): void;
  out(text: string): void;
  note(text: string): void;
}

/** What every part of the command tree works with. */
export interface CommandContext {
  readonly io: Io;
  /** The environment, with the context that the command line chooses. */
  readonly env: () => Io["env"];
  /** Fails with exit code 4 without a sign-in. */
  readonly session: () => Promise<Session>;
  readonly client: () => Promise<SessionClient>;
  readonly output: () => Output;
}
