export * from "./api.ts";
export { GUARDRAIL_REASON, makeExplainedCalls, type ExplainedCalls } from "./explained-calls.ts";
export { ROOT_PASSWORD, startGateway, type GatewayProcess, type GatewaySettings, type LogLine } from "./gateway.ts";
export { freePort, startMariadb, startPostgres, startRedis, startServices } from "./services.ts";
export type { Service, ServiceNeeds, Services } from "./services.ts";
export { runSql, type SqlRow } from "./sql.ts";
export * from "./upstream/index.ts";
