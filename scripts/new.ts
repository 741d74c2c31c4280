// `npm run new provider acme`, `resource notes`, `dialect grade` or `tool-price deep-search`: writes a skeleton that
// passes every check, including its tests and its registry entries.
import { Checkout } from "./new/checkout.ts";
import { newDialect } from "./new/dialect.ts";
import { buildNames, type Names } from "./new/names.ts";
import { newProvider } from "./new/provider.ts";
import { newResource } from "./new/resource.ts";
import { newToolPrice } from "./new/tool-price.ts";
import { main, runTool } from "./process.ts";

type Skeleton = (checkout: Checkout, names: Names) => string | Promise<string>;

const SKELETONS: Readonly<Record<string, Skeleton>> = {
  provider: newProvider,
  resource: newResource,
  dialect: newDialect,
  "tool-price": newToolPrice,
};
const USAGE = `npm run new ${Object.keys(SKELETONS).join("|")} NAME (kebab-case, a resource in the plural)`;

await main(async () => {
  const [kind = "", name = ""] = process.argv.slice(2);
  const skeleton = Object.hasOwn(SKELETONS, kind) ? SKELETONS[kind] : undefined;
  if (!skeleton || !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) throw new Error(USAGE);
  const checkout = new Checkout();
  const next = await skeleton(checkout, buildNames(name));
  for (const path of checkout.created) console.log(`created ${path}`);
  for (const path of checkout.changed) console.log(`added to ${path}`);
  await runTool("oxfmt/bin/oxfmt", ["--write", ...checkout.created, ...checkout.changed]);
  console.log(`Next: ${next}; then npm run docs and npm run check.`);
});
