export { startServices, startRedis, startMariadb, startPostgres, freePort } from "./services.ts";
export type { Service, ServiceNeeds, Services } from "./services.ts";
export * from "./upstream/index.ts";
