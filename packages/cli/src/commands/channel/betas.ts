import { ApiProblem, channelBetas, type BetaAnswer, type Client } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";

interface Row {
  readonly id: number;
  readonly beta: string;
  readonly host: string;
  readonly answer: BetaAnswer["answer"];
  readonly sent_as: string;
  readonly message: string;
}

const BETAS: Shape<Row> = {
  kind: "ChannelBeta",
  columns: [
    number("ID", "id"),
    plain("BETA", "beta"),
    plain("ANSWER", "answer"),
    { title: "CALLS", field: "sent_as", value: sentText },
    plain("MESSAGE", "message"),
  ],
  wide: [plain("HOST", "host")],
};

function sentText({ beta, sent_as }: Row): string {
  if (sent_as === "") return "left out";
  return sent_as === beta ? "sent" : `sent as ${sent_as}`;
}

/** Tests which beta flags the hosts of channels accept, and shows which ones are sent with calls of clients. */
export async function testBetas(
  client: Client,
  ids: readonly number[],
  { model }: { readonly model?: string },
  output: Output,
): Promise<void> {
  if (ids.length === 0) throw new CliError("which channels?", EXIT.usage, "name ids of `fairway channel list`");
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const id of ids) {
    const found = await askOne(client, id, model, ids.length > 1);
    if (found.isOk) rows.push(...found.rows);
    else failed.push(`channel ${id}: ${found.message}`);
  }
  if (rows.length > 0) await printList(output, { ...BETAS, rows, empty: "" });
  const open = rows.filter(({ answer, sent_as }) => answer === "taken" && sent_as === "");
  if (open.length > 0)
    output.note(
      `${open.length} that the host takes are left out of clients' calls; the option FilterOverrides can forward them.`,
    );
  if (failed.length > 0)
    throw new CliError(`${failed.length} of ${ids.length} channels failed: ${failed.join("; ")}`, EXIT.partial);
}

type Asked = { readonly isOk: true; readonly rows: Row[] } | { readonly isOk: false; readonly message: string };

async function askOne(client: Client, id: number, model: string | undefined, isOneOfMany: boolean): Promise<Asked> {
  try {
    const { data } = await client.call(channelBetas, { params: { id }, body: { model } });
    const { ok, message, host, betas } = data;
    if (!ok) return { isOk: false, message };
    return { isOk: true, rows: betas.map(({ name, ...one }) => ({ id, beta: name, host, ...one })) };
  } catch (error) {
    if (!isOneOfMany || !isOfChannel(error)) throw error;
    return { isOk: false, message: error.message };
  }
}

/** Returns true for refusals that concern one channel only. */
function isOfChannel(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && (error.key === "channel_not_found" || error.key === "channel_without_betas");
}
