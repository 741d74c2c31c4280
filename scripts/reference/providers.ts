import { allProviders } from "../../packages/gateway/src/providers/registry.ts";
import { code, page, table } from "./markdown.ts";
import { nameProviderPage } from "./provider-pages.ts";

const MAX_MODELS = 6;

export function providers(): string {
  const rows = allProviders.map((provider) => [
    String(provider.type),
    `[${provider.label}](providers/${nameProviderPage(provider)}.md)`,
    code(provider.baseUrl),
    [...new Set(provider.speaks.map((route) => route.operation))].join(", "),
    [...new Set(provider.speaks.map((route) => route.dialect))].map(code).join(", "),
    formatModels(provider.models),
  ]);
  return page(
    "Providers",
    "packages/gateway/src/providers",
    "One row per channel type, in the numbers of compatible gateways; types of its own begin at 1001. The page of a type says what its channels need and what is converted. Every type takes another base URL. A model that is not listed works all the same: the list only fills the form.",
    table(["Type", "Provider", "Base URL", "Operations", "Protocols upstream", "Models offered by the form"], rows),
  );
}

function formatModels(models: readonly string[]): string {
  const first = models.slice(0, MAX_MODELS).map(code).join(", ");
  return models.length > MAX_MODELS ? `${first} and ${models.length - MAX_MODELS} more` : first;
}
