import type { Logger } from "../observability/log.ts";
import { KubeError, type KubeApi } from "./client/api.ts";
import { readGateway } from "./conditions.ts";
import type { Events } from "./events.ts";
import { ANNOTATION, buildResourceKey, buildResourcePath, findAnnotation, type Resource } from "./resources.ts";

export interface GatewayClaimDeps {
  readonly api: KubeApi;
  readonly events: Pick<Events, "add">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Name of this gateway among those that follow the same namespaces. */
  readonly gatewayName: string;
}

/**
 * Decides which of several gateways has a resource: the one that its annotation names, otherwise the first one, whose
 * name the status holds. All others leave it alone.
 */
export class GatewayClaims {
  readonly #deps: GatewayClaimDeps;
  readonly #taken = new Set<string>();
  readonly #announced = new Set<string>();

  constructor(deps: GatewayClaimDeps) {
    this.#deps = deps;
  }

  /** Returns true if another gateway has the resource; says so once, unless the annotation decided it. */
  isForeign(resource: Resource): boolean {
    const wanted = findWanted(resource);
    const owner = wanted ?? readGateway(resource.object.status);
    if (owner === undefined || owner === this.#deps.gatewayName) return false;
    if (wanted === undefined) this.#announce(resource, owner);
    return true;
  }

  /** Takes a resource and returns it in its new version; undefined if it changed meanwhile, so that it is read again. */
  async take(resource: Resource): Promise<Resource | undefined> {
    const { api, gatewayName, signal } = this.#deps;
    const { uid = "", resourceVersion } = resource.object.metadata;
    // Definitions of an earlier version drop the member.
    if (readGateway(resource.object.status) === gatewayName || this.#taken.has(uid)) return resource;
    const patch = { metadata: { resourceVersion }, status: { gateway: gatewayName } };
    try {
      const object = await api.patch(`${buildResourcePath(resource)}/status`, patch, signal);
      this.#taken.add(uid);
      return { ...resource, object };
    } catch (error) {
      if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return undefined;
      throw error;
    }
  }

  #announce(resource: Resource, owner: string): void {
    const { events, log, gatewayName } = this.#deps;
    const place = `${resource.object.metadata.uid ?? ""} ${owner}`;
    if (this.#announced.has(place)) return;
    this.#announced.add(place);
    const cure = `To decide it, set the annotation ${ANNOTATION.gateway} to the name of the gateway.`;
    const message = `The gateway ${owner} has this resource, so ${gatewayName} leaves it alone. ${cure}`;
    events.add(resource, "Conflict", message);
    log.warn("another gateway has a resource, which is left alone", {
      resource: buildResourceKey(resource),
      gateway: owner,
      cure,
    });
  }
}

function findWanted(resource: Resource): string | undefined {
  const name = findAnnotation(resource, ANNOTATION.gateway);
  return name === "" ? undefined : name;
}
