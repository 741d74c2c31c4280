// The CLI noun of a resource, with its test.
import type { Names } from "../names.ts";

export function command({ title, item: { kebab, camel, pascal } }: Names): string {
  return `import type { Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, positive, withParts, yes } from "../../core/arguments.ts";
import type { Part } from "../paging.ts";

const load = () => import("./${kebab}.ts");
const numbers = (text: string, before: number[] = []) => [...before, positive(text)];

export function ${camel}Commands(program: Command, { client, output }: CommandContext): void {
  const ${camel} = program.command("${kebab}").description("${title.toLowerCase()} (administrators)");
  const list = ${camel}
    .command("list")
    .description("newest first")
    .action(async (part: Part) => (await load()).list${pascal}s(await client(), part, output()));
  examples(withParts(list), "fairway ${kebab} list");
  const create = ${camel}
    .command("create")
    .description("create one")
    .requiredOption("--name <name>", "how it is called")
    .action(async (options: { name: string }) =>
      (await load()).create${pascal}(await client(), options.name, output()),
    );
  examples(create, "fairway ${kebab} create --name first");
  const remove = ${camel}
    .command("delete")
    .argument("<id...>", "as \`fairway ${kebab} list\` shows them", numbers)
    .description("delete")
    .addOption(yes())
    .action(async (chosen: number[], options: { yes?: boolean }) =>
      (await load()).delete${pascal}s(await client(), chosen, options.yes, output()),
    );
  examples(remove, "fairway ${kebab} delete 3 --yes");
}
`;
}

export function actions({ title, item: { kebab, camel, pascal } }: Names): string {
  return `import { ${camel}Create, ${camel}Delete, ${camel}List, type Client, type ${pascal} } from "@fairway/wire";
import { number, plain, time } from "../../print/columns.ts";
import { printList, printOne, type Output, type Shape } from "../../print/output.ts";
import { deleteEach } from "../each.ts";
import { rowsUpTo, type Part } from "../paging.ts";

const SHAPE: Shape<${pascal}> = {
  kind: "${pascal}",
  columns: [number("ID", "id"), plain("NAME", "name"), time("CREATED", "created_time")],
  name: ({ id }) => \`${kebab}/\${id}\`,
};

export async function list${pascal}s(client: Client, part: Part, output: Output): Promise<void> {
  const found = await rowsUpTo(part, (page) => client.call(${camel}List, { query: page }));
  await printList(output, { ...SHAPE, ...found, empty: "No ${title.toLowerCase()}. Create one: fairway ${kebab} create --name first" });
}

export async function create${pascal}(client: Client, name: string, output: Output): Promise<void> {
  const { data } = await client.call(${camel}Create, { body: { name } });
  await printOne(output, data, { shape: SHAPE });
}

export async function delete${pascal}s(
  client: Client,
  ids: readonly number[],
  isAgreed: boolean | undefined,
  output: Output,
): Promise<void> {
  const deletion = {
    noun: "${kebab}",
    kind: "${pascal}Delete",
    ids,
    question: (named: string) => \`Delete \${named}\`,
    loadName: (id: number) => Promise.resolve(\`${kebab}/\${id}\`),
    remove: (id: number) => client.call(${camel}Delete, { params: { id } }),
  };
  await deleteEach(deletion, isAgreed, output);
}
`;
}

export function test({ item: { kebab } }: Names): string {
  return `import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("creates, lists and deletes", async () => {
  const { id } = parseJsonOutput(await rig.fairway("${kebab} create --name first -o json"));
  expect((await rig.fairway("${kebab} list -o name")).out).toBe(\`${kebab}/\${String(id)}\n\`);
  expect((await rig.fairway(\`${kebab} delete \${String(id)} --yes\`)).code).toBe(0);
  expect((await rig.fairway("${kebab} list -o name")).out).toBe("");
});
`;
}
