import type { Reference } from "../core/arguments.ts";
import type { Io } from "../core/io.ts";
import type { Globals } from "./globals.ts";
import type { Output } from "../print/output.ts";
import type { Session, SessionClient } from "./session.ts";
import type { Transport } from "./transport.ts";

/** The context that every command receives. */
export interface CommandContext {
  readonly io: Io;
  /** The environment, with the context that the command line selects. */
  readonly env: () => Io["env"];
  /**
   * Fails with exit code 4 without a sign-in. A screen does not wait for a busy gateway, because it reads again anyway.
   */
  readonly session: (how?: { readonly isScreen?: boolean }) => Promise<Session>;
  /** How calls are sent without a sign-in. */
  readonly transport: () => Promise<Transport>;
  readonly client: () => Promise<SessionClient>;
  readonly output: () => Output;
  readonly globals: () => Globals;
  /** Resolves an argument to an id; a name is looked up. */
  readonly resolveId: (reference: Reference) => Promise<number>;
  /** Returns the id of the team of `--team`, or of `fairway team switch`; undefined = the user's own. */
  readonly resolveTeam: (choice: TeamChoice) => Promise<number | undefined>;
  /** `isExact` accepts only whole names, for actions that cannot be undone. */
  readonly resolveIds: (references: readonly Reference[] | undefined, isExact?: boolean) => Promise<number[]>;
}

/** Options of commands that are about the user or about a team. */
export interface TeamChoice {
  readonly team?: Reference;
}
