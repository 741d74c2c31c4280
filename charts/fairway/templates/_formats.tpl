{{/*
What a text among the values must look like, and the cure. Not in the schema, which would print the expression alone,
and with it the secret. `at` goes through lists by itself; * stands for every name of a map.
*/}}
{{- define "fairway.formats" -}}
{{- $octet := "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])" }}
{{- $four := printf "%s(\\.%s){3}" $octet $octet }}
{{- $six := "[0-9a-fA-F]*:[0-9a-fA-F:.]*" }}
{{- $length4 := "/(3[0-2]|[12]?[0-9])" }}
{{- $length6 := "/(12[0-8]|1[01][0-9]|[1-9]?[0-9])" }}
{{- $network := printf "^(%s%s|%s%s)$" $four $length4 $six $length6 }}
{{- $object := "[a-z0-9]([-a-z0-9.]*[a-z0-9])?" }}
{{- $label := "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?" }}
{{- $domain := "(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*" }}
{{- $forms := dict }}
{{- $_ := set $forms "url" (list "^(https?://[^\\s]+)?$" "give a whole address that begins with http:// or https://, or nothing") }}
{{- $_ := set $forms "network" (list $network "give a network such as 10.0.0.0/8 or fd00::/8") }}
{{- $_ := set $forms "object" (list (printf "^(%s)?$" $object) "give the name of an object: lower-case letters, digits, hyphens and dots") }}
{{- $_ := set $forms "label" (list (printf "^(%s)?$" $label) "give the value of a label: at most 63 letters, digits, hyphens, underscores and dots") }}
{{- $_ := set $forms "domain" (list (printf "^%s$" $domain) "give a host name alone, in lower case, such as ai.example.com or *.example.com") }}
{{- $_ := set $forms "path" (list "^/[^\\s]*$" "give a path that begins with a slash, such as /v1") }}
{{- $_ := set $forms "time" (list "^([0-9]{1,5}(h|m|s|ms)){1,4}$" "give a time such as 30s, 10m or 0s, or null") }}
{{- $_ := set $forms "interval" (list "^[0-9]+(ms|s|m)$" "give a time such as 30s") }}
{{- $_ := set $forms "share" (list "^([0-9]{1,7}|([0-9]|[1-9][0-9]|100)%)$" "give a number such as 1, or a share from 0% to 100%") }}
{{- $_ := set $forms "quantity" (list "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][-+]?[0-9]+)?$" "give a quantity such as 500m, 256Mi or 5Gi") }}
{{- $places := dict
  "url" (list "server.publicUrl" "logExport.otlp.endpoint" "tracing.endpoint" "autoscaling.keda.prometheusAddress" "metrics.prometheusRule.runbookUrl")
  "network" (list "service.loadBalancerSourceRanges" "networkPolicy.ingressFrom.ipBlock.cidr" "networkPolicy.ingressFrom.ipBlock.except" "networkPolicy.adminFrom.ipBlock.cidr" "networkPolicy.adminFrom.ipBlock.except" "networkPolicy.egress.to.ipBlock.cidr" "networkPolicy.egress.to.ipBlock.except")
  "object" (list "image.pullSecrets.name" "priorityClassName" "runtimeClassName" "serviceAccount.name" "secrets.existingSecret" "database.existingSecret" "logDatabase.existingSecret" "database.sqlite.storageClass" "database.sqlite.existingClaim" "redis.existingSecret" "migrations.job.existingSecret" "documents.configMaps" "documents.secrets" "gitops.namespaces" "gitops.secretNames" "logExport.otlp.existingSecret" "tracing.existingSecret" "logExport.s3.existingSecret" "network.proxy.existingSecret" "network.authorities.configMap" "ingress.className" "ingress.tls.secretName" "metrics.dashboard.namespace")
  "label" (list "commonLabels.*" "serviceAccount.labels.*" "service.labels.*" "podLabels.*" "nodeSelector.*" "metrics.labels.*" "metrics.dashboard.labels.*")
  "domain" (list "hostAliases.hostnames" "ingress.hosts" "ingress.tls.hosts" "httpRoute.hostnames")
  "path" (list "ingress.paths" "httpRoute.paths" "extraVolumeMounts.mountPath")
  "time" (list "httpRoute.timeouts.request" "httpRoute.timeouts.backendRequest")
  "interval" (list "metrics.serviceMonitor.interval" "metrics.podMonitor.interval")
  "share" (list "gitops.maxDeletions" "podDisruptionBudget.maxUnavailable" "podDisruptionBudget.minAvailable" "strategy.rollingUpdate.maxSurge" "strategy.rollingUpdate.maxUnavailable")
  "quantity" (list "resources.requests.*" "resources.limits.*" "migrations.job.resources.requests.*" "migrations.job.resources.limits.*" "database.sqlite.size")
}}
{{- $formats := list
  (dict "at" "global.imageRegistry" "form" "^([a-zA-Z0-9.[\\]:-]+(/[a-z0-9._-]+)*)?$" "cure" "give the host alone, such as registry.example or registry.example:5000/team, without https:// and without a slash at the end")
  (dict "at" "image.registry" "form" "^([a-zA-Z0-9.[\\]:-]+(/[a-z0-9._-]+)*)?$" "cure" "give the host alone, such as registry.example or registry.example:5000/team, without https:// and without a slash at the end")
  (dict "at" "image.repository" "form" "^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$" "cure" "give a name in lower case such as fairway/gateway, without https://; the version goes into image.tag")
  (dict "at" "image.tag" "form" "^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$" "cure" "give a tag such as 0.1.0: letters, digits, hyphens, underscores and dots")
  (dict "at" "image.digest" "form" "^(sha256:[0-9a-f]{64})?$" "cure" "give sha256: and 64 hexadecimal digits, or nothing")
  (dict "at" "server.host" "form" (printf "^(%s|%s)$" $four $six) "cure" "give an address to listen on, such as :: or 0.0.0.0")
  (dict "at" "hostAliases.ip" "form" (printf "^(%s|%s)$" $four $six) "cure" "give an address such as 10.0.0.5")
  (dict "at" "dnsConfig.nameservers" "form" (printf "^(%s|%s)$" $four $six) "cure" "give the address of a name server, such as 10.0.0.10")
  (dict "at" "server.trustedProxies" "form" (printf "^(%s(%s)?|%s(%s)?)$" $four $length4 $six $length6) "cure" "give an address or a network of the proxies, such as 10.0.0.0/8; a name does not do")
  (dict "at" "redis.url" "form" "^(rediss?(\\+(sentinel|cluster))?://.+)?$" "isSecret" true "cure" "give a whole URL that begins with redis://, rediss://, redis+sentinel:// or redis+cluster://")
  (dict "at" "logExport.s3.url" "form" "^(https?://[^/\\s]+/[^\\s]+)?$" "cure" "give the address of a bucket, such as https://s3.eu-central-1.amazonaws.com/bucket/logs")
  (dict "at" "network.proxy.https" "form" "^(https?://[^/\\s@]+/?)?$" "isSecret" true "cure" "give an address such as http://proxy.example.com:3128; one with a password goes into the Secret of network.proxy.existingSecret")
  (dict "at" "network.proxy.http" "form" "^(https?://[^/\\s@]+/?)?$" "isSecret" true "cure" "give an address such as http://proxy.example.com:3128; one with a password goes into the Secret of network.proxy.existingSecret")
  (dict "at" "network.proxy.except" "form" "^[^,\\s]+$" "cure" "give a host, a suffix such as .example.com, an address or a network")
  (dict "at" "network.authorities.key" "form" "^[-._a-zA-Z0-9]+$" "cure" "give a key of the ConfigMap, such as ca-certificates.crt")
  (dict "at" "extraEnv.name" "form" "^[A-Za-z_][A-Za-z0-9_]*$" "cure" "give the name of a variable: letters, digits and underscores")
}}
{{- range $kind, $all := $places }}
{{- $form := get $forms $kind }}
{{- range $all }}{{ $formats = append $formats (dict "at" . "form" (first $form) "cure" (last $form)) }}{{ end }}
{{- end }}
{{- range $formats }}
{{- include "fairway.refuseFormat" (dict "value" $.Values "path" (splitList "." .at) "place" "" "format" .) }}
{{- end }}
{{- end }}

{{/* Follows the path into the values; `place` is how far it has come. */}}
{{- define "fairway.refuseFormat" -}}
{{- $at := . }}
{{- if kindIs "slice" .value }}
{{- range $index, $item := .value }}
{{- include "fairway.refuseFormat" (dict "value" $item "path" $at.path "place" (printf "%s[%d]" $at.place $index) "format" $at.format) }}
{{- end }}
{{- else if and .path (kindIs "map" .value) }}
{{- range $name, $item := .value }}
{{- if has (first $at.path) (list "*" $name) }}
{{- include "fairway.refuseFormat" (dict "value" $item "path" (rest $at.path) "place" (trimPrefix "." (printf "%s.%s" $at.place $name)) "format" $at.format) }}
{{- end }}
{{- end }}
{{- else if not (or .path (kindIs "invalid" .value)) }}
{{- if not (regexMatch .format.form (toString .value)) }}
{{- $is := ternary "cannot be used" (printf "is %q" (toString .value)) (hasKey .format "isSecret") }}
{{- fail (printf "%s %s: %s" .place $is .format.cure) }}
{{- end }}
{{- end }}
{{- end }}
