import { status } from "@fairway/wire";
import { VERSION } from "../../core/version.ts";
import { printOne, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";

/** Without a session it prints only the version of this program. */
export async function showVersion(session: Session | undefined, output: Output): Promise<void> {
  const client = { version: VERSION, node: process.versions.node };
  if (!session) {
    const words = { client: VERSION, node: process.versions.node };
    return printOne(output, { client }, { words });
  }
  const { data } = await session.client.call(status, {});
  const server = { version: data.version, address: session.profile.server };
  const words = {
    client: VERSION,
    node: process.versions.node,
    server: `${data.version} (${session.profile.server})`,
  };
  await printOne(output, { client, server }, { words });
}
