import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { GENERATED, CHART, buildSetArgs, requireObject, render, run } from "./helm.ts";

const helm = findHelm();

const backend = { service: { name: "demo-fairway", port: { name: "http" } } };
const everything = { http: { paths: [{ path: "/", pathType: "Prefix", backend }] } };

describe("an Ingress", () => {
  it("is absent unless asked for, as is an HTTPRoute", async () => {
    const kinds = (await render(helm, "mysql")).map(({ kind }) => kind);
    expect(kinds).not.toContain("Ingress");
    expect(kinds).not.toContain("HTTPRoute");
  });

  it("leads each host to the Service, with the class and the certificates that were given", async () => {
    expect(requireObject(await render(helm, "ingress"), "Ingress")["spec"]).toEqual({
      ingressClassName: "nginx",
      tls: [{ secretName: "ai-example-com", hosts: ["ai.example.com"] }],
      rules: [
        { host: "ai.example.com", ...everything },
        { host: "models.example.com", ...everything },
      ],
    });
  });

  it("opens the named paths alone", async () => {
    const paths = ["/v1", "/v1beta"];
    const ingress = requireObject(await render(helm, "ingress", [JSON.stringify({ ingress: { paths } })]), "Ingress");
    const { rules } = ingress["spec"] as { rules: { http: { paths: object[] } }[] };
    for (const { http } of rules)
      expect(http.paths).toEqual(paths.map((path) => ({ path, pathType: "Prefix", backend })));
    const route = requireObject(await render(helm, "large", [JSON.stringify({ httpRoute: { paths } })]), "HTTPRoute");
    const [rule] = (route["spec"] as { rules: { matches: object[] }[] }).rules;
    expect(rule?.matches).toEqual(paths.map((value) => ({ path: { type: "PathPrefix", value } })));
  });

  it("has annotations that follow other values, and stay texts", async () => {
    const { annotations } = requireObject(await render(helm, "ingress"), "Ingress").metadata;
    expect(annotations).toEqual({
      "nginx.ingress.kubernetes.io/proxy-body-size": "268435456",
      "nginx.ingress.kubernetes.io/proxy-buffering": "off",
    });
  });
});

describe("an HTTPRoute", () => {
  it("leads the Gateway's host to the Service, and ends no answer early", async () => {
    expect(requireObject(await render(helm, "large"), "HTTPRoute")["spec"]).toEqual({
      parentRefs: [{ name: "public", namespace: "gateways", sectionName: "https" }],
      hostnames: ["ai.example.com"],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          backendRefs: [{ name: "demo-fairway", port: 80 }],
          timeouts: { request: "0s", backendRequest: "0s" },
        },
      ],
    });
  });

  it("names no timeouts to a gateway that knows none", async () => {
    const { rules } = requireObject(await render(helm, "large", ["httpRoute.timeouts=null"]), "HTTPRoute")["spec"] as {
      rules: object[];
    };
    expect(rules[0]).not.toHaveProperty("timeouts");
  });
});

describe("a load balancer", () => {
  it("keeps clients' addresses, class and networks as they are given", async () => {
    const service = {
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      trafficDistribution: "PreferClose",
      loadBalancerClass: "service.k8s.aws/nlb",
      loadBalancerSourceRanges: ["192.0.2.0/24"],
    };
    const values = JSON.stringify({ service: { ...service, nodePort: 30_080 } });
    const objects = await render(helm, "mysql", [values]);
    const [open, admin] = objects.filter(({ kind }) => kind === "Service").map((object) => object["spec"]);
    expect(open).toMatchObject({ ...service, ports: [{ port: 80, nodePort: 30_080 }] });
    expect(admin).toMatchObject({ clusterIP: "None" });
    expect(admin).not.toHaveProperty("loadBalancerClass");
  });
});

describe("the notes of an installation", () => {
  const notes = async (values: string, sets: readonly string[] = []): Promise<string> => {
    const given = ["-f", join(CHART, "ci", `${values}.yaml`), ...[GENERATED, ...sets].flatMap(buildSetArgs)];
    const { code, output } = await run(helm, ["install", "demo", CHART, "-n", "models", "--dry-run=client", ...given]);
    expect({ code, output }).toMatchObject({ code: 0 });
    return output.slice(output.indexOf("\nNOTES:"));
  };

  it.each([
    ["by port-forward", "mysql", [], "port-forward service/demo-fairway 3000:80"],
    ["by the host of the Ingress", "ingress", ["server.publicUrl="], "   https://ai.example.com\n"],
    ["without TLS", "ingress", ["server.publicUrl=", "ingress.tls=null"], "   http://ai.example.com\n"],
    ["by the host of the HTTPRoute", "large", [], "   https://ai.example.com\n"],
    ["by the Gateway", "large", ["httpRoute.hostnames=null"], "host names of the Gateway public"],
    [
      "by a load balancer",
      "mysql",
      ["service.type=LoadBalancer"],
      "get service demo-fairway     # http://EXTERNAL-IP:80",
    ],
    ["by a port of the nodes", "mysql", ["service.type=NodePort"], "{.spec.ports[0].nodePort}"],
    ["by the public address", "existing-secrets", [], "   https://ai.example.com\n"],
  ])("tell the way in %s", async (_, values, sets, way) => {
    expect(await notes(values, sets)).toContain(way);
  });

  it("tell the way to a console that is not open to clients", async () => {
    const inside = JSON.stringify({ httpRoute: { paths: ["/v1"] } });
    expect(await notes("large", [inside])).toContain("port-forward service/demo-fairway 3000:80");
    expect(await notes("large")).not.toContain("port-forward");
  });

  it("name the Secret that holds the password of root, the operator's own too", async () => {
    const command = (secret: string) =>
      `kubectl --namespace models get secret ${secret} -o jsonpath='{.data.root-password}'`;
    expect(await notes("mysql")).toContain(command("demo-fairway-secrets"));
    expect(await notes("large")).toContain(command("fairway-secrets"));
  });

  it("say what happens to calls while Redis is away, and only where there is one", async () => {
    expect(await notes("mysql")).toContain("refused with 503 (redis.quotaOnOutage=deny)");
    const chosen = await notes("mysql", ["redis.quotaOnOutage=sql"]);
    expect(chosen).toContain("reserved in the database (redis.quotaOnOutage=sql)");
    expect(chosen).not.toContain("deny");
    expect(await notes("sqlite")).not.toContain("Redis is away");
  });

  it("ask for what a proxy in front makes necessary, until it is given", async () => {
    const missing = await notes("large");
    expect(missing).toContain("Set server.publicUrl");
    expect(missing).toContain("Set server.trustedProxies");
    const given = await notes("ingress");
    expect(given).not.toContain("Set server.");
  });
});
