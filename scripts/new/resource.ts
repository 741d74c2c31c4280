import { globSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import type { Checkout } from "./checkout.ts";
import type { Names } from "./names.ts";
import * as cli from "./templates/cli.ts";
import * as page from "./templates/console.ts";
import * as server from "./templates/server.ts";

const GATEWAY = "packages/gateway/src";
const CONSOLE = "packages/console/src";
const CLI = "packages/cli";

/** A noun of the management API with table, page and command; returns what to do next. */
export function newResource(checkout: Checkout, names: Names): string {
  addContract(checkout, names);
  addTable(checkout, names);
  addRoutes(checkout, names);
  addPage(checkout, names);
  addCommand(checkout, names);
  addPlaces(checkout, names);
  return "columns and rules of the resource; its icon and Chinese label; the scopes of its calls (wire/src/access/call-rights.ts); its commands in packages/cli/test/tree.json and in the story of packages/cli/test/golden";
}

function addContract(checkout: Checkout, names: Names): void {
  checkout.create(`packages/wire/src/operations/${names.kebab}.ts`, server.wire(names));
  checkout.append("packages/wire/src/index.ts", `export * from "./operations/${names.kebab}.ts";\n`);
  const table = "packages/wire/src/access/call-rights.ts";
  checkout.insertBefore(table, /\};\n\n\/\*\* The part of a call that determines its rights/, server.rights(names));
}

function addTable(checkout: Checkout, names: Names): void {
  const { kebab, snake, camel, item } = names;
  const folder = `${GATEWAY}/storage/schema/migrations`;
  const versions = globSync("[0-9]*.ts", { cwd: join(ROOT, folder) }).map((file) => Number(file.slice(0, 4)));
  const version = Math.max(...versions) + 1;
  const file = `${String(version).padStart(4, "0")}-${kebab}.ts`;
  checkout.create(`${folder}/${file}`, server.migration(names, version));
  checkout.insertBefore(`${folder}/index.ts`, /import \{ logs \}/, `import { ${camel} } from "./${file}";\n`);
  checkout.insertBefore(`${folder}/index.ts`, /\];\n\n\/\*\* Migrations of the table `logs`/, `  ${camel},\n`);
  const schema = `${GATEWAY}/storage/tables/schema.ts`;
  checkout.insertBefore(schema, / {2}top_ups: TopUpTable;/, `  ${snake}: ${item.pascal}Table;\n`);
  checkout.append(schema, server.tableType(names));
  checkout.insertBefore(`${GATEWAY}/commands/dump/tables.ts`, / {2}top_ups: \[/, `  ${snake}: ["id"],\n`);
}

function addRoutes(checkout: Checkout, names: Names): void {
  const { kebab, item } = names;
  const folder = `${GATEWAY}/resources/${kebab}`;
  checkout.create(`${folder}/store.ts`, server.store(names));
  checkout.create(`${folder}/routes.ts`, server.routes(names));
  checkout.create(`${folder}/routes.test.ts`, server.routesTest(names));
  const operations = `${GATEWAY}/resources/operations.ts`;
  checkout.insertBefore(
    operations,
    /import type \{ Announce, Vault \}/,
    `import { ${item.camel}Routes } from "./${kebab}/routes.ts";\nimport { create${item.pascal}Store } from "./${kebab}/store.ts";\n`,
  );
  checkout.insertBefore(
    operations,
    / {4}\.\.\.groupRoutes\(/,
    `    ...${item.camel}Routes({ store: create${item.pascal}Store(deps) }),\n`,
  );
}

function addPage(checkout: Checkout, names: Names): void {
  const { kebab, camel, title, item } = names;
  const folder = `${CONSOLE}/features/${kebab}`;
  checkout.create(`${folder}/api.ts`, page.api(names));
  checkout.create(`${folder}/${kebab}.page.tsx`, page.page(names));
  checkout.create(`${folder}/${item.kebab}.drawer.tsx`, page.drawer(names));
  checkout.create(`${folder}/texts.ts`, page.texts());
  checkout.create(`${folder}/locale/en.ts`, page.english(names));
  checkout.create(`${folder}/locale/zh.ts`, page.chinese(names));
  checkout.insertBefore(`${CONSOLE}/lib/query-keys.ts`, / {2}options: \{\n/, page.queryKeys(names));
  const pages = `${CONSOLE}/routes/pages.ts`;
  checkout.insertBefore(`${CONSOLE}/routes/page-entry.ts`, / {4}\| "about"/, `    | "${camel}"\n`);
  checkout.insertBefore(pages, / {2}\{\n {4}path: "\/about"/, page.pageEntry(names, freeKey(checkout.read(pages))));
  for (const locale of ["en", "zh"])
    checkout.insertBefore(`${CONSOLE}/shared/locale/${locale}.ts`, / {2}audit: /, `  ${camel}: "${title}",\n`);
}

/** Returns a second key of the shortcut that no page has; undefined if every letter is taken. */
function freeKey(pages: string): string | undefined {
  const taken = new Set([...pages.matchAll(/ key: "(.)"/g)].map(([, key]) => key));
  return "abcdefghijklmnopqrstuvwxyz".split("").find((key) => !taken.has(key));
}

function addCommand(checkout: Checkout, names: Names): void {
  const { kebab, camel } = names.item;
  checkout.create(`${CLI}/src/commands/${kebab}/command.ts`, cli.command(names));
  checkout.create(`${CLI}/src/commands/${kebab}/${kebab}.ts`, cli.actions(names));
  checkout.create(`${CLI}/test/${names.kebab}.test.ts`, cli.test(names));
  const program = `${CLI}/src/program.ts`;
  checkout.insertBefore(
    program,
    /import \{ optionCommands \}/,
    `import { ${camel}Commands } from "./commands/${kebab}/command.ts";\n`,
  );
  checkout.insertBefore(program, / {2}optionCommands,\n/, `  ${camel}Commands,\n`);
}

/** The parts of a room have an order; see scripts/rooms/rooms.ts. */
function addPlaces(checkout: Checkout, { kebab, item }: Names): void {
  const rooms = "scripts/rooms/rooms.ts";
  checkout.insertBefore(rooms, / system operations log-export\n/, ` ${kebab}`);
  checkout.insertBefore(rooms, / status api completion\n/, ` ${item.kebab}`);
}
