// `npm run new provider acme` or `npm run new resource notes`: writes the skeleton and its registry line.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./bootstrap.mjs";
import { main } from "./process.ts";

const FIRST_OWN_TYPE = 1005; // below are numbers of compatible gateways and the first four of our own
const USAGE = "npm run new provider NAME, or npm run new resource NAME (kebab-case, resources in the plural)";

await main(async () => {
  const [kind, name] = process.argv.slice(2);
  if (!name || !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) throw new Error(USAGE);
  if (kind === "provider") await newProvider(name);
  else if (kind === "resource") newResource(name);
  else throw new Error(USAGE);
});

async function newProvider(name: string): Promise<void> {
  const { allProviders } = await import("../packages/gateway/src/providers/registry.ts");
  const type = Math.max(FIRST_OWN_TYPE - 1, ...allProviders.map((provider) => provider.type)) + 1;
  create(
    `packages/gateway/src/providers/vendors/${name}/${name}.ts`,
    `import { openaiCompatible } from "../../core/openai-compatible.ts";

export const ${camel(name)} = openaiCompatible({
  type: ${type},
  id: "${name}",
  label: "${pascal(name)}",
  baseUrl: "https://api.${name}.com",
  models: [],
});
`,
  );
  append("packages/gateway/src/providers/index.ts", `export { ${camel(name)} } from "./vendors/${name}/${name}.ts";\n`);
  console.log(
    `Channel type ${type}. Next: label, base URL and models; vectors in packages/gateway/vectors; npm run docs.`,
  );
}

function newResource(name: string): void {
  const [item, Item] = [camel(singular(name)), pascal(singular(name))];
  create(
    `packages/wire/src/operations/${name}.ts`,
    `import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

export const ${Item} = z.object({ id: z.int() });
export type ${Item} = z.output<typeof ${Item}>;

export const ${item}List = endpoint({
  name: "${item}List",
  method: "GET",
  path: "/api/${name}/",
  access: "user",
  summary: "Lists the caller's ${name}.",
  data: z.array(${Item}),
});
`,
  );
  append("packages/wire/src/index.ts", `export * from "./operations/${name}.ts";\n`);
  create(
    `packages/gateway/src/resources/${name}/store.ts`,
    `import type { ${Item} } from "@fairway/wire";
import type { Database } from "../../storage/database.ts";

export interface ${Item}Store {
  list(userId: number): Promise<${Item}[]>;
}

export function create${Item}Store({ database }: { readonly database: Database }): ${Item}Store {
  return {
    list: (userId) => database.raw.rows<${Item}>("select id from ${name.replaceAll("-", "_")} where user_id = ? order by id desc limit 100", [userId]),
  };
}
`,
  );
  create(
    `packages/gateway/src/resources/${name}/routes.ts`,
    `import { ${item}List } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { ${Item}Store } from "./store.ts";

export function ${item}Routes({ store }: { readonly store: ${Item}Store }): Route[] {
  return [implement(${item}List, ({ caller }) => store.list(caller.userId))];
}
`,
  );
  console.log(
    "Next: a migration and its table in storage, the line that mounts the routes, routes.test.ts; npm run docs.",
  );
}

function create(path: string, text: string): void {
  const file = join(ROOT, path);
  if (existsSync(file)) throw new Error(`${path} exists already`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`created ${path}`);
}

function append(path: string, line: string): void {
  const file = join(ROOT, path);
  writeFileSync(file, readFileSync(file, "utf8") + line);
  console.log(`added a line to ${path}`);
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function pascal(name: string): string {
  return camel(`-${name}`);
}

function singular(name: string): string {
  return name.endsWith("ies") ? `${name.slice(0, -3)}y` : name.replace(/s$/, "");
}
