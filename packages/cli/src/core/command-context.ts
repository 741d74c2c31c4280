import type { Reference } from "../commands/arguments.ts";
import type { Globals } from "./globals.ts";
import type { Output } from "../print/output.ts";
import type { Session, SessionClient } from "../session/session.ts";
import type { Transport } from "../session/transport.ts";

/** The parts of the process that a command uses. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly width: number | undefined;
  readonly isTerminal: boolean;
  readonly nowSeconds: () => number;
  /** Asks nothing from now on. */
  closeInput(): void;
  /** Prints times in UTC from now on. */
  useUtc(): void;
  /** Data as they are, without a line end. */
  write(text: string): void;
  out(text: string): void;
  /** Undefined while the reader of the output keeps up; otherwise what to wait for before more is written. */
  room(): Promise<void> | undefined;
  note(text: string): void;
}

/** The context that every command receives. */
export interface CommandContext {
  readonly io: Io;
  /** The environment, with the context that the command line chooses. */
  readonly env: () => Io["env"];
  /** Fails with exit code 4 without a sign-in. A screen does not wait for a busy gateway; it reads again anyway. */
  readonly session: (how?: { readonly isScreen?: boolean }) => Promise<Session>;
  /** How calls are sent before there is a sign-in. */
  readonly transport: () => Promise<Transport>;
  readonly client: () => Promise<SessionClient>;
  readonly output: () => Output;
  readonly globals: () => Globals;
  /** The id of what an argument names; a name is looked up. */
  readonly idOf: (reference: Reference) => Promise<number>;
  /** `isExact` takes whole names alone, for what cannot be undone. */
  readonly idsOf: (references: readonly Reference[] | undefined, isExact?: boolean) => Promise<number[]>;
}
