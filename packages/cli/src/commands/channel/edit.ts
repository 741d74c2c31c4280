import { CHANNEL_FIELD_NAMES, channelGet, channelUpdate } from "@fairway/wire";
import { parse, stringify } from "yaml";
import type { Io } from "../../core/io.ts";
import { editText } from "../../terminal/editor.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";

/** Fields that the editor shows, in the order of the console's form, without the key. */
const FIELDS = CHANNEL_FIELD_NAMES.filter((name) => name !== "status");

type Fields = Record<string, unknown>;

/** Shows the changes and asks before it applies them. Fails with exit code 5 if someone else changed the channel. */
export async function editChannel(
  client: SessionClient,
  id: number,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const { data: channel, tag } = await client.read(channelGet, { params: { id } });
  const before: Fields = Object.fromEntries(FIELDS.map((field) => [field, channel[field]]));
  const text = `# Channel ${id}. What is taken out of this file stays as it is.\n${stringify(before, { lineWidth: 0 })}`;
  const save = async (changed: string) => {
    const fields = diffFields(before, parseFields(changed));
    const names = Object.keys(fields);
    if (names.length === 0) return output.note("Nothing was changed.");
    for (const name of names)
      output.note(`  ${name}  ${JSON.stringify(before[name])} → ${JSON.stringify(fields[name])}`);
    await output.confirm(`Change channel ${id}, ${channel.name}`, 1);
    await client.call(channelUpdate, { body: { id, ...fields }, headers: { "If-Match": tag } });
    output.note(`Changed channel ${id}, ${channel.name}: ${names.join(", ")}.`);
  };
  await editText({ text, fileName: `channel-${id}.yaml` }, save, io);
}

function parseFields(text: string): Fields {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new CliError(error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : "no YAML", EXIT.usage);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new CliError("the text holds no fields", EXIT.usage, "write name: value on each line");
  const unknown = Object.keys(value).find((name) => !(FIELDS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new CliError(`there is no field ${unknown}`, EXIT.usage, `write ${FIELDS.join(", ")}`);
  return value as Fields;
}

/** A text field that is left empty becomes empty text. */
function diffFields(before: Fields, after: Fields): Fields {
  const filled = Object.entries(after).map(([name, value]): [string, unknown] => [name, value ?? ""]);
  return Object.fromEntries(filled.filter(([name, value]) => value !== (before[name] ?? "")));
}
