import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unpackHelm } from "@fairway/testkit/helm";
import { template } from "./helm.ts";

let helm = "";
let remove = () => {};

beforeAll(() => {
  ({ path: helm, remove } = unpackHelm());
});
afterAll(() => remove());

describe("values that cannot work", () => {
  it.each([
    ["sqlite", ["replicaCount=2"], "database.type=sqlite allows one replica"],
    ["mysql", ["database.host="], "database.host or database.existingSecret is required"],
    ["mysql", ["redis.enabled=false"], "more than one replica needs Redis"],
    ["mysql", ["redis.url=redis+other://redis:6379"], "does not match pattern"],
    ["mysql", ["redis.url="], "redis.url or redis.existingSecret is required"],
    ["mysql", ["drain.terminationGracePeriodSeconds=60"], "drain.terminationGracePeriodSeconds is shorter"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_PORT"], "extraEnv sets FAIRWAY_PORT"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_REDIS_URL_FILE"], "extraEnv sets FAIRWAY_REDIS_URL_FILE"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[0].value=1"], "got number, want string"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[0].vale=b"], "additional properties 'vale' not allowed"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[1].name=A"], "extraEnv names A twice"],
    ["mysql", ["logExport.s3.url=https://s3.example.org/bucket"], "logExport.s3.existingSecret is required"],
    ["mysql", ["logExport.s3.url=s3://bucket"], "does not match pattern"],
    ["mysql", ["logExport.otlp.existingSecret=a"], "logExport.otlp.existingSecret without logExport.otlp.endpoint"],
    ["mysql", ["secrets.create=false"], "secrets.existingSecret is required"],
    ["mysql", ["secrets.sessionSecret=short"], "secrets.sessionSecret is too short: give at least 16 characters"],
    ["mysql", ["secrets.initialRootPassword=short"], "secrets.initialRootPassword is too short: give at least 8"],
    ["mysql", ["database.host=db.example:3307"], "the port as database.port"],
    ["mysql", ["database.host=fd00::1"], "an IPv6 address in brackets"],
    ["mysql", ["fullnameOverride=My_Gateway"], "a Service needs lower-case letters"],
    ["mysql", ["podLabels.app\\.kubernetes\\.io/name=x"], "podLabels sets app.kubernetes.io/name"],
    ["mysql", ["server.adminPort=3000"], "server.port and server.adminPort are the same"],
    ["mysql", ["replicaCount=null", "redis.enabled=false"], "more than one replica needs Redis"],
    ["sqlite", ["replicaCount=null"], "database.type=sqlite allows one replica"],
    ["sqlite", ["autoscaling.enabled=true"], "autoscaling.enabled with database.type=sqlite"],
    ["large", ["redis.enabled=false"], "autoscaling.enabled without Redis"],
    ["large", ["autoscaling.maxReplicas=2"], "autoscaling.maxReplicas (2) is less than autoscaling.minReplicas (3)"],
    ["large", ["resources.requests=null"], "autoscaling.cpuUtilization is a share of resources.requests.cpu"],
    ["large", ["autoscaling.cpuUtilization=null", "autoscaling.metrics=null"], "autoscaling has no metric to go by"],
    ["keda", ["autoscaling.enabled=false"], "autoscaling.keda.enabled without autoscaling.enabled"],
    ["keda", ["autoscaling.keda.prometheusAddress="], "autoscaling.keda.prometheusAddress is empty"],
    [
      "keda",
      ["autoscaling.maxReplicas=3"],
      "autoscaling.keda.fallbackReplicas (4) is more than autoscaling.maxReplicas (3)",
    ],
    ["keda", ["autoscaling.metrics[0].type=Pods"], "with KEDA give autoscaling.keda.triggers"],
    ["large", ["httpRoute.parentRefs=null"], "httpRoute.parentRefs is empty"],
    ["large", ["httpRoute.timeouts.request=10"], "got number, want null or string"],
    ["large", ["networkPolicy.adminFrom[0].namespace=monitoring"], "additional properties 'namespace' not allowed"],
    [
      "mysql",
      ["service.externalTrafficPolicy=Local"],
      "service.externalTrafficPolicy is for service.type=LoadBalancer",
    ],
    ["mysql", ["service.loadBalancerSourceRanges={10.0.0.0/8}"], "are for service.type=LoadBalancer"],
    ["mysql", ['{"extraContainers":[{"name":"gateway","image":"a"}]}'], "/extraContainers/0/name"],
    ["ingress", ["ingress.paths[0]=v1"], "does not match pattern"],
    ["ingress", ["ingress.hosts=null"], "ingress.hosts is empty"],
    ["ingress", ["ingress.hosts[0]=https://ai.example.com"], "does not match pattern"],
    ["ingress", ["ingress.hosts[0]=b.example.com"], "ingress.tls names ai.example.com, which ingress.hosts does not"],
    [
      "mysql",
      ['{"documents":{"items":[{"kind":"Channel","metadata":{"name":"a"},"spec":{"type":"openai","key":"sk"}}]}}'],
      "the channel a has its key in the values",
    ],
    [
      "mysql",
      [
        '{"documents":{"items":[{"kind":"Channel","metadata":{"name":"a"},"spec":{"credentialsFrom":{"secretKeyRef":{"name":"x","key":"k"}}}}]}}',
      ],
      "refers to the Secret x, which documents.secrets does not name",
    ],
    ["mysql", ['{"documents":{"items":[{"kind":"User","metadata":{"name":"a"},"spec":{}}]}}'], "value must be one of"],
    ["sqlite", ["leaderElection.backend=lease"], "leaderElection.backend=lease with database.type=sqlite"],
    ["mysql", ["leaderElection.backend=kubernetes"], "at '/leaderElection/backend': value must be one of"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_LEADER"], "extraEnv sets FAIRWAY_LEADER"],
    ["sqlite", ["migrations.mode=job"], "migrations.mode=job with database.type=sqlite"],
    ["mysql", ["migrations.job.existingSecret=owner"], "migrations.job.existingSecret without migrations.mode=job"],
    ["job", ["extraEnv[0].name=FAIRWAY_MIGRATE"], "extraEnv sets FAIRWAY_MIGRATE"],
    ["mysql", ["migrations.mode=hook"], "value must be one of"],
    ["keda", ["metrics.serviceMonitor.enabled=true"], "would scrape every pod twice: enable one"],
    [
      "mysql",
      ["metrics.serviceMonitor.enabled=true"],
      "networkPolicy.adminFrom is empty, so Prometheus reaches no pod",
    ],
    ["job", ["service.ipFamilyPolicy=SingleStack"], "service.ipFamilies names two families"],
    ["mysql", ["service.ipFamilies={IPv5}"], "value must be one of"],
    ["mysql", ["extraObjects[0].kind=ConfigMap"], "missing properties 'apiVersion', 'metadata'"],
    ["mysql", ["metrics=null"], "missing property 'metrics'"],
    ["mysql", ["server.logLevel=null"], "at '/server': missing property 'logLevel'"],
    ["mysql", ["probes.liveness.successThreshold=2"], "value must be 1"],
    ["mysql", ["drain.streamSecond=3"], "additional properties 'streamSecond' not allowed"],
    ["mysql", ["server.port=99999"], "maximum"],
    ["mysql", ["database.type=oracle"], "value must be one of"],
  ])("%s with %j: %s", async (values, sets, message) => {
    const { code, output } = await template(helm, values, sets);
    expect(code).not.toBe(0);
    expect(output).toContain(message);
  });

  it.each([
    "image.tag",
    "resources",
    "affinity",
    "priorityClassName",
    "httpRoute.timeouts",
    "autoscaling.cpuUtilization",
  ])("%s may be null, as values files write what they leave empty", async (path) => {
    expect(await template(helm, "mysql", [`${path}=null`])).toMatchObject({ code: 0 });
  });
});
