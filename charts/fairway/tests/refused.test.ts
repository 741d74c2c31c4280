import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { template } from "./helm.ts";

const helm = findHelm();

describe("a misspelt member", () => {
  it.each([
    ["pull secrets", '{"image":{"pullSecrets":[{"nmae":"a"}]}}', "nmae"],
    ["the pod's security context", '{"podSecurityContext":{"runAsUsr":1}}', "runAsUsr"],
    ["the container's security context", '{"securityContext":{"privilegd":false}}', "privilegd"],
    ["capabilities", '{"securityContext":{"capabilities":{"dorp":["ALL"]}}}', "dorp"],
    ["scaling", '{"autoscaling":{"behavior":{"scaleUp":{"policys":[]}}}}', "policys"],
    ["a policy of scaling", '{"autoscaling":{"behavior":{"scaleDown":{"policies":[{"kind":"Pods"}]}}}}', "kind"],
    ["affinity", '{"affinity":{"podAntiAffinity":{"required":[]}}}', "required"],
    ["spread", '{"topologySpreadConstraints":[{"labelSelector":{"matchLables":{}}}]}', "matchLables"],
    ["a container", '{"extraContainers":[{"name":"a","image":"b","commands":[]}]}', "commands"],
    ["an init container", '{"initContainers":[{"name":"a","image":"b","volumeMount":[]}]}', "volumeMount"],
    ["a volume", '{"extraVolumes":[{"name":"a","configmap":{}}]}', "configmap"],
    ["a mount", '{"extraVolumeMounts":[{"name":"tmp","mountPath":"/a","subpath":"b"}]}', "subpath"],
    ["a variable's source", '{"extraEnv":[{"name":"A","valueFrom":{"secretRef":{}}}]}', "secretRef"],
    ["a source of variables", '{"extraEnvFrom":[{"secretKeyRef":{}}]}', "secretKeyRef"],
    ["a peer", '{"networkPolicy":{"adminFrom":[{"podSelector":{"labels":{}}}]}}', "labels"],
    ["a port of egress", '{"networkPolicy":{"egress":[{"ports":[{"prot":53}]}]}}', "prot"],
    ["a relabeling", '{"metrics":{"serviceMonitor":{"relabelings":[{"target":"a"}]}}}', "target"],
    ["a filter of the route", '{"httpRoute":{"filters":[{"type":"URLRewrite","urlRewrites":{}}]}}', "urlRewrites"],
    ["a handler", '{"lifecycle":{"postStart":{"execute":{}}}}', "execute"],
    ["a key of an object", '{"extraEnv":[{"name":"A","valueFrom":{"secretKeyRef":{"nmae":"b"}}}]}', "nmae"],
    ["a mounted ConfigMap", '{"extraVolumes":[{"name":"a","configMap":{"nam":"b"}}]}', "nam"],
    ["a projected volume", '{"extraVolumes":[{"name":"a","projected":{"sources":[{"secrets":{}}]}}]}', "secrets"],
    ["a container's probe", '{"extraContainers":[{"name":"a","image":"b","livenessProbe":{"http":{}}}]}', "http"],
    ["a container's resources", '{"extraContainers":[{"name":"a","image":"b","resources":{"limit":{}}}]}', "limit"],
    ["a container's variable", '{"initContainers":[{"name":"a","image":"b","env":[{"nmae":"A"}]}]}', "nmae"],
    [
      "a term of affinity",
      '{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topology":"zone"}]}}}',
      "topology",
    ],
    ["a metric of scaling", '{"autoscaling":{"metrics":[{"type":"Pods","pods":{"metrics":{}}}]}}', "metrics"],
    ["a rewrite", '{"httpRoute":{"filters":[{"type":"URLRewrite","urlRewrite":{"host":"a"}}]}}', "host"],
    ["AppArmor", '{"securityContext":{"appArmorProfile":{"profile":"a"}}}', "profile"],
    ["a request of a handler", '{"lifecycle":{"postStart":{"httpGet":{"url":"/"}}}}', "url"],
    ["the end of a pod", '{"lifecycle":{"preStop":{}}}', "preStop"],
  ])("of %s is refused by its name", async (_, set, member) => {
    const { code, output } = await template(helm, "mysql", [set]);
    expect(code).not.toBe(0);
    expect(output).toContain(`additional properties '${member}' not allowed`);
  });
});

describe("values that cannot work", () => {
  it.each([
    ["sqlite", ["replicaCount=2"], "database.type=sqlite allows one replica"],
    ["mysql", ["database.host="], "database.host or database.existingSecret is required"],
    ["mysql", ["redis.enabled=false"], "more than one replica needs Redis"],
    ["mysql", ["redis.url=redis+other://redis:6379"], "redis.url cannot be used: give a whole URL"],
    ["mysql", ["redis.existingSecret=a"], "redis.existingSecret holds the URL, so redis.url would not be used"],
    ["mysql", ["database.existingSecret=a"], "database.existingSecret holds the whole URL"],
    [
      "mysql",
      ["database.existingSecretPasswordKey=p"],
      "database.existingSecretPasswordKey needs database.existingSecret",
    ],
    [
      "mysql",
      ["database.existingSecretPasswordKey=p", "database.existingSecret=a"],
      "database.existingSecretPasswordKey and database.password give the password twice",
    ],
    ["sqlite", ["database.host=db"], "database.type=sqlite has no server"],
    ["mysql", ["redis.existingSecretPasswordKey=p"], "redis.existingSecretPasswordKey needs redis.existingSecret"],
    [
      "mysql",
      ["redis.existingSecretPasswordKey=p", "redis.existingSecret=a", "redis.url=redis://:x@cache:6379"],
      "with a password in redis.url: take it out",
    ],
    ["sqlite", ["redis.url=redis://cache:6379"], "redis.enabled=false, so redis.url"],
    ["sqlite", ["redis.quotaOnOutage=sql"], "redis.enabled=false, so redis.quotaOnOutage"],
    [
      "mysql",
      ["networkPolicy.enabled=false", '{"networkPolicy":{"egress":[{"ports":[{"port":53}]}]}}'],
      "networkPolicy.egress would not be used: no policy is made with networkPolicy.enabled=false",
    ],
    [
      "existing-secrets",
      ["networkPolicy.enabled=null", '{"networkPolicy":{"ingressFrom":[{"podSelector":{}}]}}'],
      "networkPolicy.ingressFrom would not be used",
    ],
    [
      "mysql",
      ["secrets.existingSecret=a", "secrets.encryptionKey=0123456789abcdef"],
      "secrets.sessionSecret would not",
    ],
    ["mysql", ["serviceAccount.create=false", "serviceAccount.annotations.a=b"], "serviceAccount.create=false, so"],
    ["mysql", ["gitops.namespaces[0]=models"], "without gitops.enabled: set that too"],
    ["mysql", ["podSecurityContext.runAsUser=0"], "podSecurityContext.runAsUser is 0, which is root"],
    ["mysql", ["securityContext.runAsUser=0"], "securityContext.runAsUser is 0, which is root"],
    ["mysql", ["podDisruptionBudget.maxUnavailable=0"], "podDisruptionBudget.maxUnavailable is 0, so no node"],
    ["mysql", ["podDisruptionBudget.minAvailable=2"], "podDisruptionBudget.minAvailable is 2 of 2 pods"],
    ["mysql", ["podDisruptionBudget.minAvailable=100%"], "podDisruptionBudget.minAvailable is 100%"],
    ["mysql", ["strategy.type=Recreate"], "strategy.rollingUpdate with strategy.type=Recreate"],
    ["mysql", ["strategy.rollingUpdate.maxSurge=0"], "are both 0, so nothing could ever be replaced"],
    ["mysql", ["strategy.rollingUpdate.maxSurge=one"], 'strategy.rollingUpdate.maxSurge is "one"'],
    [
      "mysql",
      ['{"service":{"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":60}}}}'],
      "for service.sessionAffinity",
    ],
    ["mysql", ["global.imageRegistry=https://registry.example"], "global.imageRegistry is"],
    ["mysql", ["database.username="], "database.username is empty: give the account of the pods"],
    ["mysql", ["redis.url="], "redis.url or redis.existingSecret is required"],
    ["mysql", ["drain.terminationGracePeriodSeconds=60"], "drain.terminationGracePeriodSeconds is shorter"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_PORT"], "extraEnv sets FAIRWAY_PORT"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_REDIS_URL_FILE"], "extraEnv sets FAIRWAY_REDIS_URL_FILE"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[0].value=1"], "got number, want string"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[0].vale=b"], "additional properties 'vale' not allowed"],
    ["mysql", ["extraEnv[0].name=A", "extraEnv[1].name=A"], "extraEnv names A twice"],
    ["mysql", ["logExport.s3.url=https://s3.example.org/bucket"], "logExport.s3.existingSecret is required"],
    ["mysql", ["logExport.s3.url=s3://bucket"], 'logExport.s3.url is "s3://bucket": give the address of a bucket'],
    ["mysql", ["logExport.otlp.existingSecret=a"], "logExport.otlp.existingSecret without logExport.otlp.endpoint"],
    ["mysql", ["network.proxy.https=proxy.example.com:3128"], "network.proxy.https cannot be used: give an address"],
    ["mysql", ["network.proxy.http=http://u:p@proxy.example.com"], "one with a password goes into the Secret"],
    ["mysql", ["network.proxy.https=http://a", "network.proxy.existingSecret=b"], "keep the Secret or the addresses"],
    ["mysql", ["extraEnv[0].name=FAIRWAY_HTTPS_PROXY_FILE"], "extraEnv sets FAIRWAY_HTTPS_PROXY_FILE"],
    [
      "mysql",
      ["network.authorities.configMap=ca", "extraVolumes[0].name=authorities"],
      "extraVolumes names authorities",
    ],
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
    ["mysql", ["service.nodePort=30080"], "service.nodePort is for service.type=NodePort or LoadBalancer"],
    ["mysql", ['{"hostAliases":[{"ip":"db","hostnames":["db"]}]}'], 'hostAliases[0].ip is "db": give an address'],
    ["mysql", ["dnsConfig.nameservers={dns.example}"], "give the address of a name server"],
    ["mysql", ["dnsConfig.server=10.0.0.1"], "additional properties 'server' not allowed"],
    ["mysql", ["service.loadBalancerSourceRanges={10.0.0.0/8}"], "are for service.type=LoadBalancer"],
    ["mysql", ['{"extraContainers":[{"name":"gateway","image":"a"}]}'], "/extraContainers/0/name"],
    ["ingress", ["ingress.paths[0]=v1"], 'ingress.paths[0] is "v1": give a path that begins with a slash'],
    ["ingress", ["ingress.hosts=null"], "ingress.hosts is empty"],
    ["ingress", ["ingress.hosts[0]=https://ai.example.com"], "give a host name alone, in lower case"],
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
    ["mysql", ["server.host=example.com"], "give an address to listen on"],
    ["mysql", ["server.publicUrl=ai.example.com"], "give a whole address that begins with http:// or https://"],
    ["mysql", ["server.trustedProxies={10.0.0.0/8,10.0.0.0/33}"], 'server.trustedProxies[1] is "10.0.0.0/33"'],
    ["mysql", ["image.registry=registry.example/"], "give the host alone"],
    ["mysql", ["image.repository=fairway:1.0"], "the version goes into image.tag"],
    ["mysql", ["image.tag=v 1"], 'image.tag is "v 1": give a tag such as'],
    ["mysql", ["image.digest=sha256:abc"], "give sha256: and 64 hexadecimal digits"],
    ["mysql", ["commonLabels.team=a b"], 'commonLabels.team is "a b": give the value of a label'],
    ["mysql", ["secrets.existingSecret=My_Secret"], "give the name of an object"],
    ["sqlite", ["database.sqlite.size=5GB"], "give a quantity such as"],
    ["mysql", ["resources.requests.cpu=lots"], 'resources.requests.cpu is "lots": give a quantity'],
    ["mysql", ["resources.limits.memroy=1Gi"], "additional properties 'memroy' not allowed"],
    ["mysql", ["resources.limit.memory=1Gi"], "additional properties 'limit' not allowed"],
    ["mysql", ["resources.limits.memory=128Mi"], "a pod takes about 160 MB while idle"],
    [
      "mysql",
      ["resources.requests.memory=2Gi"],
      "resources.requests.memory (2Gi) is more than resources.limits.memory",
    ],
    ["mysql", ["podDisruptionBudget.maxUnavailable=150%"], "give a number such as 1, or a share from 0% to 100%"],
    ["gitops", ["gitops.maxDeletions=120%"], "give a number such as 1, or a share from 0% to 100%"],
    ["gitops", ["gitops.namespaces={*}"], 'gitops.namespaces[0] is "*": give the name of an object'],
    ["gitops", ["serviceAccount.create=false"], "every pod of the namespace that names no account"],
    ["large", ["httpRoute.timeouts.request=forever"], "give a time such as 30s, 10m or 0s, or null"],
    ["monitored", ["metrics.serviceMonitor.interval=1h"], 'metrics.serviceMonitor.interval is "1h"'],
    [
      "mysql",
      ['{"networkPolicy":{"ingressFrom":[{"ipBlock":{"cidr":"10.0.0.0"}}]}}'],
      "ingressFrom[0].ipBlock.cidr is",
    ],
    ["mysql", ['{"tolerations":[{"effect":"Never"}]}'], "at '/tolerations/0/effect': value must be one of"],
    ["mysql", ['{"affinity":{"node":{}}}'], "additional properties 'node' not allowed"],
    ["mysql", ['{"podSecurityContext":{"runAsUser":"me"}}'], "at '/podSecurityContext/runAsUser': got string"],
    ["mysql", ['{"extraVolumes":[{"name":"tmp"}]}'], "extraVolumes names tmp, as a volume of the chart is called"],
    ["mysql", ['{"extraVolumes":[{"name":"a"},{"name":"a"}]}'], "extraVolumes names a twice"],
    ["mysql", ['{"extraVolumeMounts":[{"name":"a","mountPath":"/a"}]}'], "mounts a, which extraVolumes does not have"],
    ["mysql", ['{"extraVolumeMounts":[{"name":"tmp","mountPath":"/data/"}]}'], "extraVolumeMounts covers /data/"],
    ["mysql", ["extraEnv[0].name=A-B"], 'extraEnv[0].name is "A-B": give the name of a variable'],
    ["mysql", ["database.type=oracle"], "value must be one of"],
  ])("%s with %j: %s", async (values, sets, message) => {
    const { code, output } = await template(helm, values, sets);
    expect(code).not.toBe(0);
    expect(output).toContain(message);
  });

  it("is refused without what may be secret in it", async () => {
    const { code, output } = await template(helm, "mysql", ["redis.url=:canary-redis-password@redis:6379"]);
    expect(code).not.toBe(0);
    expect(output).not.toContain("canary");
  });

  it.each([
    ["server.trustedProxies={10.0.0.1,::1,fd00::/8,::ffff:10.0.0.0/104}"],
    ["image.repository=localhost:5000/team/fairway"],
    ['{"resources":{"requests":{"cpu":1,"memory":1000000000},"limits":{"memory":"2e9"}}}'],
    ["podDisruptionBudget.maxUnavailable=25%", "gitops.maxDeletions=3"],
    ['{"extraVolumeMounts":[{"name":"tmp","mountPath":"/var/cache","subPath":"cache"}]}'],
  ])("%j are usual, and taken", async (...sets) => {
    expect(await template(helm, "mysql", sets)).toMatchObject({ code: 0 });
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
