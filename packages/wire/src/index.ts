export * from "./constants.ts";
export * from "./endpoint.ts";
export * from "./envelope.ts";
export * from "./messages.ts";
export * from "./paging.ts";
