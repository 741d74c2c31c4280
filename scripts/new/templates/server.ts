// Contract, table, store and routes of a resource, with their test.
import type { Names } from "../names.ts";

export function wire({ kebab, title, item: { camel, pascal } }: Names): string {
  return `import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { pageQuery } from "../core/paging.ts";

export const ${pascal} = z.object({
  id: z.int(),
  name: z.string(),
  /** Epoch seconds. */
  created_time: z.int(),
});
export type ${pascal} = z.output<typeof ${pascal}>;

export const ${camel}List = endpoint({
  name: "${camel}List",
  method: "GET",
  path: "/api/${kebab}/",
  access: "admin",
  summary: "Lists ${title.toLowerCase()}, newest first.",
  query: pageQuery,
  data: z.array(${pascal}),
});

export const ${camel}Create = endpoint({
  name: "${camel}Create",
  method: "POST",
  path: "/api/${kebab}/",
  access: "admin",
  summary: "Creates a ${title.toLowerCase()} entry.",
  body: z.strictObject({ name: z.string() }),
  data: ${pascal},
  fails: ["invalid_field"],
});

export const ${camel}Delete = endpoint({
  name: "${camel}Delete",
  method: "DELETE",
  path: "/api/${kebab}/{id}",
  access: "admin",
  summary: "Deletes one; deleting it again changes nothing.",
  params: idParams,
});
`;
}

export function rights({ kebab, item: { camel } }: Names): string {
  return `  // /api/${kebab}
  ${camel}List: read("settings"),
  ${camel}Create: write("settings"),
  ${camel}Delete: destroy("settings"),
`;
}

export function migration({ snake, camel, title }: Names, version: number): string {
  return `import { bigint, id, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const ${camel}: Migration = {
  version: ${version},
  name: "${title.toLowerCase()}",
  steps: tables({
    ${snake}: { columns: { id: id(), name: text(64), created_time: bigint() } },
  }),
};
`;
}

export function tableType({ item: { pascal } }: Names): string {
  return `
export interface ${pascal}Table {
  id: Generated<number>;
  name: string;
  created_time: number;
}
`;
}

export function store({ snake, item: { pascal } }: Names): string {
  return `import type { ${pascal} } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";

interface ${pascal}StoreDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export type ${pascal}Store = ReturnType<typeof create${pascal}Store>;

export function create${pascal}Store({ database: { db }, clock }: ${pascal}StoreDeps) {
  return {
    async page({ offset, limit }: { readonly offset: number; readonly limit: number }): Promise<{
      readonly rows: ${pascal}[];
      readonly total: number;
    }> {
      const rows = db.selectFrom("${snake}").selectAll().orderBy("id", "desc").offset(offset).limit(limit).execute();
      const count = db.selectFrom("${snake}").select((eb) => eb.fn.countAll<number>().as("total"));
      const { total } = await count.executeTakeFirstOrThrow();
      return { rows: await rows, total: Number(total) };
    },

    async create(name: string): Promise<${pascal}> {
      const row = { name, created_time: seconds(clock) };
      return { id: await insertRow(db, "${snake}", row), ...row };
    },

    async remove(id: number): Promise<void> {
      await db.deleteFrom("${snake}").where("id", "=", id).execute();
    },
  };
}
`;
}

export function routes({ item: { camel, pascal } }: Names): string {
  return `import { characters, resolvePage, ${camel}Create, ${camel}Delete, ${camel}List } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ${pascal}Store } from "./store.ts";

const NAME_LIMIT = 64;

export function ${camel}Routes({ store }: { readonly store: ${pascal}Store }): Route[] {
  return [
    implement(${camel}List, async ({ query, setTotal }) => {
      const { rows, total } = await store.page(resolvePage(query));
      setTotal(total);
      return rows;
    }),
    implement(${camel}Create, ({ body: { name } }) => {
      if (name.trim() === "" || characters(name) > NAME_LIMIT)
        throw new Refusal("invalid_field", {
          field: "name",
          values: { field: "name", reason: \`must be 1 to \${NAME_LIMIT} characters long\` },
        });
      return store.create(name.trim());
    }),
    implement(${camel}Delete, ({ params }) => store.remove(params.id)),
  ];
}
`;
}

export function routesTest({ kebab, item: { kebab: item, pascal } }: Names): string {
  return `import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import type { ${pascal} } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { create${pascal}Store, type ${pascal}Store } from "./store.ts";

describe("over HTTP", () => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());

  test("creates, lists and deletes", async () => {
    const { admin } = members;
    const made = await admin.data<${pascal}>(admin.post("/api/${kebab}/", { name: "first" }));
    expect(await admin.data(admin.get("/api/${kebab}/"))).toEqual([made]);
    await admin.data(admin.delete(\`/api/${kebab}/\${made.id}\`));
    expect(await admin.data(admin.get("/api/${kebab}/"))).toEqual([]);
  });

  test("refuses a blank name, and users who are no administrators", async () => {
    expect(await readCode(members.admin.post("/api/${kebab}/", { name: " " }))).toBe("G2");
    expect(await readCode(members.user.get("/api/${kebab}/"))).toBe("AU7");
  });
});

eachDatabase("${item} store", (open) => {
  let kit: StoreKit;
  let store: ${pascal}Store;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = create${pascal}Store(kit);
  });
  afterAll(() => kit.database.close());

  test("pages from the newest on", async () => {
    const made: ${pascal}[] = [];
    for (const name of ["a", "b", "c"]) made.push(await store.create(name));
    expect(made[0]).toMatchObject({ name: "a", created_time: START_SECONDS });
    expect(await store.page({ offset: 1, limit: 1 })).toEqual({ rows: [made[1]], total: 3 });
  });
});
`;
}
