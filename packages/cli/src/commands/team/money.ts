import { randomUUID } from "node:crypto";
import { teamAdjust, teamAudit, teamGet, teamTransfer, type AuditRow, type Client } from "@fairway/wire";
import { parseQuota } from "../../core/amounts.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, type Output, type Shape } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import { printPart, type Part } from "../paging.ts";

export interface MoneyOptions {
  readonly idempotencyKey?: string;
  readonly note?: string;
}

interface Amount extends MoneyOptions {
  readonly amount: string;
}

export async function transfer(client: Client, id: number, options: Amount, output: Output): Promise<void> {
  const { data: team } = await client.call(teamGet, { params: { id } });
  const perUnit = await output.quotaPerUnit();
  const quota = parseQuota(options.amount, perUnit, "the amount");
  const { data } = await client.call(teamTransfer, { params: { id }, body: { quota }, ...once(options) });
  const moved = `Moved ${moneyText(quota, perUnit)} to ${team.slug}`;
  await printDone(
    output,
    { id, moved: quota, quota: data.quota },
    `${moved}, which has ${moneyText(data.quota, perUnit)} now.`,
  );
}

export async function adjust(client: Client, id: number, options: Amount, output: Output): Promise<void> {
  const { data: team } = await client.call(teamGet, { params: { id } });
  const perUnit = await output.quotaPerUnit();
  const quota = readSigned(options.amount, perUnit);
  const { note } = options;
  const body = { quota, ...(note !== undefined && { note }) };
  const { data } = await client.call(teamAdjust, { params: { id }, body, ...once(options) });
  const sentence = `${team.slug} has ${moneyText(data.quota, perUnit)} now.`;
  await printDone(output, { id, changed: quota, quota: data.quota }, sentence);
}

function readSigned(text: string, perUnit: number): number {
  return text.startsWith("-")
    ? -parseQuota(text.slice(1), perUnit, "the amount")
    : parseQuota(text, perUnit, "the amount");
}

/** A repeated try moves nothing twice. */
function once({ idempotencyKey = randomUUID() }: MoneyOptions) {
  return { headers: { "Idempotency-Key": idempotencyKey } };
}

const AUDIT: Shape<AuditRow> = {
  kind: "AuditRow",
  columns: [
    time("TIME", "created_at"),
    plain("USER", "username"),
    plain("ACTION", "action"),
    plain("TARGET", "target"),
    plain("CHANGE", "new_value"),
  ],
  wide: [number("ID", "id"), plain("BEFORE", "old_value")],
  name: ({ id }) => `audit/${id}`,
};

export async function listAudit(client: Client, id: number, part: Part, output: Output): Promise<void> {
  const list = { ...AUDIT, toShown: (row: AuditRow) => row, empty: "No changes yet." };
  await printPart(output, part, list, (page) => client.call(teamAudit, { params: { id }, query: page }));
}
