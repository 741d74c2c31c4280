import { DEFAULT_GRACE_SECONDS, formatTime, MAX_GRACE_SECONDS, tokenOfUserRotate } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Io } from "../../core/io.ts";
import { parseSpan } from "../../core/times.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printBare, printDone, type Output, type Shape } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import type { TokenOwner } from "./owner.ts";
import { isTokenMissing, KEYS } from "./token.ts";

export interface TokenRotateOptions {
  readonly grace?: string;
}

/** Prints the new key, and until when the replaced ones work. */
export async function rotateToken(
  owner: TokenOwner,
  id: number,
  { grace }: TokenRotateOptions,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const found = await owner.read(id).catch((problem: unknown) => passOnlyMissing(owner, problem));
  if (!found) return replaceOfUser(owner.client, id, parseGrace(grace ?? "0"), output);
  const { data: token, tag } = found;
  const graceSeconds = parseGrace(grace);
  const data = await owner.rotate(id, graceSeconds, tag);
  if (io.isTerminal) output.note("Anyone who reads this key can spend its quota.");
  for (const { hint, expires_at } of data.old) output.note(`${hint} works until ${formatTime(expires_at)}.`);
  if (graceSeconds === 0) output.note("The replaced key has ended.");
  if (data.key === "") return output.note("Its holder alone reads the new key.");
  const key = `sk-${data.key}`;
  await printBare(output, key, { id, name: token.name, key }, KEYS);
}

/** The key of another user is not among one's own; that of a team is asked from the team alone. */
function passOnlyMissing({ team }: TokenOwner, problem: unknown): undefined {
  if (team !== undefined || !isTokenMissing(problem)) throw problem;
}

/** Replaces the key of another user's token, such as one that leaked; the owner alone can read the new one. */
async function replaceOfUser(client: SessionClient, id: number, graceSeconds: number, output: Output): Promise<void> {
  const body = { grace_seconds: graceSeconds };
  const { data } = await client.call(tokenOfUserRotate, { params: { id }, body });
  const until =
    graceSeconds === 0
      ? "the replaced one has ended"
      : `the replaced one works until ${formatTime(data.old_keys_until)}`;
  const row = { id, name: data.name, owner: data.username, old_keys_until: data.old_keys_until };
  await printDone(output, row, `Token ${id}, ${data.name}, of ${data.username} has a new key; ${until}.`, REPLACED);
}

interface Replaced {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly old_keys_until: number;
}

const REPLACED: Shape<Replaced> = {
  kind: "TokenReplace",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    plain("OWNER", "owner"),
    time("OLD KEY UNTIL", "old_keys_until"),
  ],
  name: ({ id }) => `token/${id}`,
};

function parseGrace(text: string | undefined): number {
  if (text === undefined) return DEFAULT_GRACE_SECONDS;
  const seconds = text === "0" ? 0 : parseSpan(text, "--grace");
  if (seconds > MAX_GRACE_SECONDS)
    throw new CliError(`--grace ${text} is too long`, EXIT.usage, "write 30d at most, or 0");
  return seconds;
}
