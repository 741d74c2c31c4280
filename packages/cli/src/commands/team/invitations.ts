import {
  teamInvitationCreate,
  teamInvitationDelete,
  teamInvitationList,
  type Client,
  type TeamInvitation,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Io } from "../../core/io.ts";
import { parseSpan } from "../../core/times.ts";
import { number, plain, time } from "../../print/columns.ts";
import type { Session } from "../../session/session.ts";
import { printBare, printDone, printList, type Output, type Shape } from "../../print/output.ts";

const INVITATIONS: Shape<TeamInvitation> = {
  kind: "TeamInvitation",
  columns: [
    number("ID", "id"),
    { title: "FOR", field: "email", value: ({ email }) => (email === "" ? "anyone with the link" : email) },
    plain("ROLE", "role"),
    { title: "USES", value: ({ uses, max_uses: most }) => `${uses} of ${most}` },
    time("EXPIRES", "expires_at"),
  ],
  wide: [number("BY", "created_by"), time("CREATED", "created_at")],
  name: ({ id }) => `invitation/${id}`,
};

interface Made {
  readonly id: number;
  readonly code: string;
  readonly link: string;
}

const MADE: Shape<Made> = {
  kind: "TeamInvitation",
  columns: [number("ID", "id"), plain("LINK", "link")],
  name: ({ id }) => `invitation/${id}`,
};

export interface InviteOptions {
  readonly role: "admin" | "member" | "viewer";
  readonly email?: string;
  readonly expires: string;
  readonly uses?: number;
}

export async function invite(
  { client, profile }: Pick<Session, "client" | "profile">,
  id: number,
  options: InviteOptions,
  output: Output,
): Promise<void> {
  const { role, email, uses } = options;
  const expires_in = parseSpan(options.expires, "--expires");
  const body = {
    role,
    expires_in,
    ...(email !== undefined && { email }),
    ...(uses !== undefined && { max_uses: uses }),
  };
  const { data } = await client.call(teamInvitationCreate, { params: { id }, body });
  output.note(`Invitation ${data.id} for ${email ?? "anyone with the link"}; it is shown once:`);
  // A gateway that does not know its address gives a link without one.
  const link = data.link.startsWith("/") ? profile.server + data.link : data.link;
  await printBare(output, link, { ...data, link }, MADE);
}

export async function listInvitations(client: Client, id: number, output: Output): Promise<void> {
  const { data: rows } = await client.call(teamInvitationList, { params: { id } });
  const empty = "No open invitations. Make one: fairway team invite TEAM";
  await printList(output, { ...INVITATIONS, rows, empty });
}

export async function revoke(client: Client, id: number, iid: number, output: Output): Promise<void> {
  await client.call(teamInvitationDelete, { params: { id, iid } });
  await printDone(output, { team: id, invitation: iid }, `Invitation ${iid} has ended.`);
}

/**
 * Opens the page that accepts an invitation: joining may give the account an address, which an access token cannot do.
 */
export async function join(server: string, link: string, { output, io }: { readonly output: Output; readonly io: Io }) {
  const code = readCode(link.trim());
  const page = `${server}/team/join?code=${encodeURIComponent(code)}`;
  output.note("Sign in there and press Join the team:");
  output.out(page);
  if (io.isTerminal) (await import("../../terminal/browser.ts")).openPage(page, io.env);
}

function readCode(text: string): string {
  const code = text.includes("/") ? URL.parse(text, "http://localhost")?.searchParams.get("code") : text;
  if (code !== undefined && code !== null && code !== "") return code;
  throw new CliError("the link holds no code", EXIT.usage, "paste the whole link, in quotes");
}
