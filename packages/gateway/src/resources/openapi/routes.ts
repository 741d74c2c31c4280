import { openApi, openApiDocument } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";

/** Adds a route that describes all routes. The document is built at the first request. */
export function withOpenApi(routes: readonly Route[], version: string): Route[] {
  let document: Record<string, unknown> | undefined;
  const all: Route[] = [
    ...routes,
    implement(openApi, () => {
      const endpoints = all.map(({ endpoint }) => endpoint);
      return (document ??= openApiDocument(endpoints, { title: "Fairway management API", version }));
    }),
  ];
  return all;
}
