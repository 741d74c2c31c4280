{{- define "fairway.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}{{- end }}
{{- end }}
{{- end }}

{{- define "fairway.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Versions may have a plus sign, labels may not. */}}
{{- define "fairway.labelValue" -}}
{{ . | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end }}

{{- define "fairway.labels" -}}
{{ include "fairway.selector" . }}
app.kubernetes.io/version: {{ include "fairway.labelValue" .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ include "fairway.labelValue" (printf "%s-%s" .Chart.Name .Chart.Version) }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The list is the root and the object's own annotations, which win. */}}
{{- define "fairway.annotations" -}}
{{- with merge (dict) (last . | default dict) ((first .).Values.commonAnnotations | default dict) -}}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "fairway.pullSecrets" -}}
{{- $names := list }}
{{- range .Values.image.pullSecrets }}{{ $names = append $names .name }}{{ end }}
{{- range .Values.global.imagePullSecrets }}{{ if kindIs "string" . }}{{ $names = append $names . }}{{ else }}{{ $names = append $names .name }}{{ end }}{{ end }}
{{- with uniq $names }}{{ range . }}
- name: {{ . | quote }}
{{- end }}{{ end }}
{{- end }}

{{/* Not the selector: Services and budgets must not take the pod of `helm test` for a gateway. */}}
{{- define "fairway.testLabels" -}}
app.kubernetes.io/name: {{ printf "%s-test" (default .Chart.Name .Values.nameOverride | trunc 58 | trimSuffix "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Without pod-template-hash the pods of a rollout would be counted together with those that they replace. */}}
{{- define "fairway.spread" -}}
{{- $constraints := .Values.topologySpreadConstraints }}
{{- if kindIs "invalid" $constraints }}
{{- $constraints = list }}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
{{- $constraints = append $constraints (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway" "matchLabelKeys" (list "pod-template-hash")) }}
{{- end }}
{{- end }}
{{- $own := dict "matchLabels" (include "fairway.selector" . | fromYaml) }}
{{- $whole := list }}
{{- range $constraints }}{{ $whole = append $whole (hasKey . "labelSelector" | ternary . (set (deepCopy .) "labelSelector" $own)) }}{{ end }}
{{- if $whole }}{{ toYaml $whole }}{{ end }}
{{- end }}

{{- define "fairway.image" -}}
{{- $name := .Values.image.repository }}
{{- with default .Values.global.imageRegistry .Values.image.registry }}{{ $name = printf "%s/%s" . $name }}{{ end }}
{{- if .Values.image.digest }}{{ printf "%s@%s" $name .Values.image.digest }}
{{- else }}{{ printf "%s:%s" $name (default .Chart.AppVersion .Values.image.tag) }}{{ end }}
{{- end }}

{{- define "fairway.secretName" -}}
{{- default (printf "%s-secrets" (include "fairway.fullname" .)) .Values.secrets.existingSecret }}
{{- end }}

{{- define "fairway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "fairway.fullname" .) .Values.serviceAccount.name }}
{{- else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "fairway.graceSeconds" -}}
{{- $sum := add .Values.drain.preStopSeconds .Values.drain.streamSeconds .Values.drain.flushSeconds }}
{{- if eq (toString .Values.drain.terminationGracePeriodSeconds) "<nil>" }}{{ add $sum 10 }}
{{- else }}{{ .Values.drain.terminationGracePeriodSeconds }}{{ end }}
{{- end }}

{{/*
Pods of the Deployment; empty = not named. What `kubectl scale` or an autoscaler has set (subresource scale) stays while
replicaCount is the same: naming another number would be a conflict of field managers. Without the live number, the first
upgrade with an autoscaler would fall back to one pod.
*/}}
{{- define "fairway.replicas" -}}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "fairway.fullname" .) | default dict }}
{{- $isScaled := false }}
{{- range dig "metadata" "managedFields" list $live }}
{{- if and (eq (.subresource | default "") "scale") (hasKey (dig "fieldsV1" "f:spec" dict .) "f:replicas") }}{{ $isScaled = true }}{{ end }}
{{- end }}
{{- if or .Values.autoscaling.enabled (kindIs "invalid" .Values.replicaCount) }}
{{- if and $live (not $isScaled) }}{{ $live.spec.replicas }}{{ end }}
{{- else if and $isScaled (eq (toString .Values.replicaCount) (dig "metadata" "annotations" "fairway.dev/replica-count" (toString .Values.replicaCount) $live)) }}{{ $live.spec.replicas }}
{{- else }}{{ .Values.replicaCount }}{{ end }}
{{- end }}

{{- define "fairway.databasePort" -}}
{{- if eq (toString .Values.database.port) "<nil>" }}{{ ternary 5432 3306 (eq .Values.database.type "postgres") }}
{{- else }}{{ .Values.database.port }}{{ end }}
{{- end }}

{{/* Spaces as %20: a plus sign would be read as one. */}}
{{- define "fairway.databaseUrl" -}}
{{- $database := .Values.database }}
{{- $parts := dict }}
{{- range list "username" "password" "name" }}{{ $_ := set $parts . (get $database . | default "" | urlquery | replace "+" "%20") }}{{ end }}
{{- $account := $database.existingSecretPasswordKey | empty | ternary (printf "%s:%s" $parts.username $parts.password) $parts.username }}
{{- printf "%s://%s@%s:%s/%s" $database.type $account $database.host (include "fairway.databasePort" .) $parts.name }}
{{- end }}

{{/*
Changes with the values that go into the chart's Secrets and are read at the start. Generated ones are not among them:
at the first render they are not known yet. A slow hash, because who may read pods may not read Secrets.
*/}}
{{- define "fairway.fingerprint" -}}
{{- $given := list }}
{{- if not .Values.secrets.existingSecret }}{{ $given = list .Values.secrets.sessionSecret .Values.secrets.encryptionKey }}{{ end }}
{{- if and (ne .Values.database.type "sqlite") (not .Values.database.existingSecret) }}{{ $given = append $given (include "fairway.databaseUrl" .) }}{{ end }}
{{- if and .Values.redis.enabled (not .Values.redis.existingSecret) }}{{ $given = append $given .Values.redis.url }}{{ end }}
{{- if without $given "" }}{{ derivePassword 1 "long" (toJson $given) .Release.Namespace (include "fairway.fullname" .) | sha256sum | trunc 16 }}{{ end }}
{{- end }}

{{/* Not empty = on. By default where the values, and not a Secret, name the stores. */}}
{{- define "fairway.hasNetworkPolicy" -}}
{{- if kindIs "invalid" .Values.networkPolicy.enabled }}
{{- if and .Values.database.host (or .Values.redis.url (not .Values.redis.enabled)) }}true{{ end }}
{{- else if .Values.networkPolicy.enabled }}true{{ end }}
{{- end }}

{{/* Variables with which a pod reaches the database and reads what it has sealed. */}}
{{- define "fairway.databaseEnv" -}}
- name: FAIRWAY_ENCRYPTION_KEY
  valueFrom: { secretKeyRef: { name: {{ include "fairway.secretName" .root | quote }}, key: encryption-key } }
{{- if ne .root.Values.database.type "sqlite" }}
{{- if .passwordKey }}
- { name: FAIRWAY_DATABASE_URL, value: {{ include "fairway.databaseUrl" .root | quote }} }
- name: FAIRWAY_DATABASE_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ .existingSecret | quote }}, key: {{ .passwordKey | quote }} } }
{{- else }}
- name: FAIRWAY_DATABASE_URL
  valueFrom:
    secretKeyRef:
      {{- if .existingSecret }}
      name: {{ .existingSecret | quote }}
      key: {{ .existingSecretKey | quote }}
      {{- else }}
      name: {{ include "fairway.fullname" .root }}-connections
      key: database-url
      {{- end }}
{{- end }}
{{- end }}
{{- with .root.Values.logDatabase }}
{{- if .existingSecret }}
- name: FAIRWAY_LOG_DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .existingSecret | quote }}, key: {{ .existingSecretKey | quote }} } }
{{- end }}
{{- end }}
{{- end }}

{{/* A whole folder, because a single mounted file would not follow the ConfigMap. */}}
{{- define "fairway.authoritiesEnv" -}}
{{- with .Values.network.authorities }}
{{- if .configMap }}
- { name: FAIRWAY_CA_FILE, value: {{ printf "/authorities/%s" .key | quote }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "fairway.authoritiesMount" -}}
{{- if .Values.network.authorities.configMap }}
- { name: authorities, mountPath: /authorities, readOnly: true }
{{- end }}
{{- end }}

{{- define "fairway.authoritiesVolume" -}}
{{- with .Values.network.authorities.configMap }}
- name: authorities
  configMap: { name: {{ . | quote }} }
{{- end }}
{{- end }}

{{/* Only the pods that serve: a migration calls nothing but the database. */}}
{{- define "fairway.proxyEnv" -}}
{{- with .Values.network.proxy }}
{{- range $name := list "https" "http" }}
{{- if $.Values.network.proxy.existingSecret }}
- name: FAIRWAY_{{ upper $name }}_PROXY
  valueFrom: { secretKeyRef: { name: {{ $.Values.network.proxy.existingSecret | quote }}, key: {{ $name }}-proxy, optional: true } }
{{- else if get $.Values.network.proxy $name }}
- { name: FAIRWAY_{{ upper $name }}_PROXY, value: {{ get $.Values.network.proxy $name | quote }} }
{{- end }}
{{- end }}
{{- if and .except (or .existingSecret .https .http) }}
- { name: FAIRWAY_NO_PROXY, value: {{ join "," .except | quote }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "fairway.rootPasswordEnv" -}}
- name: FAIRWAY_ROOT_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "fairway.secretName" . | quote }}, key: root-password } }
{{- end }}

{{/*
Not empty = the pods get the password of root. The account is made at the first start, so an upgrade takes the password
out of pods that have once been available.
*/}}
{{- define "fairway.givesRootPassword" -}}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "fairway.fullname" .) | default dict }}
{{- $isGiven := not $live }}
{{- range dig "spec" "template" "spec" "containers" list $live }}
{{- range .env }}{{ if eq .name "FAIRWAY_ROOT_PASSWORD" }}{{ $isGiven = true }}{{ end }}{{ end }}
{{- end }}
{{- $wasAvailable := gt (dig "status" "availableReplicas" 0 $live | int) 0 }}
{{- if and (eq .Values.migrations.mode "onStart") $isGiven (not $wasAvailable) }}true{{ end }}
{{- end }}

{{/*
Not empty = a cluster answers. Every namespace has the account, and who installs the chart may read it; a namespace that
is yet to be made is made by someone who may read others.
*/}}
{{- define "fairway.seesCluster" -}}
{{- if lookup "v1" "ServiceAccount" .Release.Namespace "default" }}true
{{- else if lookup "v1" "Namespace" "" "kube-system" }}true{{ end }}
{{- end }}

{{/*
A value of the chart's Secret: given, taken from an earlier install, or generated. Without a cluster the earlier install
cannot be seen, and another encryption key at each render would make every stored key unreadable.
*/}}
{{- define "fairway.secretValue" -}}
{{- $stored := dig "data" .key "" (default dict .existing) }}
{{- if .given }}{{ .given | b64enc }}
{{- else if $stored }}{{ $stored }}
{{- else if or .root.Values.secrets.generateWithoutCluster (include "fairway.seesCluster" .root) }}{{ randAlphaNum .length | b64enc }}
{{- else }}{{ fail (printf "secrets.%s is empty and no cluster is asked for the one of an earlier install, so each render would make another: name a Secret of yours in secrets.existingSecret or give the value; to generate one anyway, set secrets.generateWithoutCluster=true (with --dry-run, --dry-run=server asks the cluster)" .value) }}
{{- end }}
{{- end }}

{{/*
The release's own Secrets as a JSON list: no document and no custom resource reads them. Variables called FAIRWAY_SECRET_
are for documents.
*/}}
{{- define "fairway.ownSecrets" -}}
{{- $v := .Values }}
{{- $names := list (include "fairway.secretName" .) (printf "%s-secrets" (include "fairway.fullname" .)) (printf "%s-connections" (include "fairway.fullname" .)) }}
{{- $names = concat $names (list $v.database.existingSecret $v.logDatabase.existingSecret $v.redis.existingSecret $v.migrations.job.existingSecret $v.tracing.existingSecret $v.logExport.otlp.existingSecret $v.logExport.s3.existingSecret $v.network.proxy.existingSecret) }}
{{- range include "fairway.pullSecrets" . | fromYamlArray }}{{ $names = append $names .name }}{{ end }}
{{- range $v.ingress.tls }}{{ $names = append $names .secretName }}{{ end }}
{{- range $v.extraEnv }}{{ if not (hasPrefix "FAIRWAY_SECRET_" .name) }}{{ $names = append $names (dig "valueFrom" "secretKeyRef" "name" "" .) }}{{ end }}{{ end }}
{{- range $v.extraEnvFrom }}{{ $names = append $names (dig "secretRef" "name" "" .) }}{{ end }}
{{- range $v.extraVolumes }}{{ $names = append $names (dig "secret" "secretName" "" .) }}{{ end }}
{{- without $names "" nil | uniq | sortAlpha | toJson }}
{{- end }}

{{/* Fails for a name in a list of readable Secrets that is one of the release. */}}
{{- define "fairway.refuseOwnSecret" -}}
{{- if or (has .name (include "fairway.ownSecrets" .root | fromJsonArray)) (hasPrefix "sh.helm.release.v1." .name) }}
{{- fail (printf "%s names %s, a Secret of the release itself: an author of documents or resources could send its value to any address; put what they need into a Secret of its own" .at .name) }}
{{- end }}
{{- end }}

{{/* Attributes of all spans. Kubernetes replaces the names of variables. */}}
{{- define "fairway.traceAttributes" -}}
{{- $own := dict "k8s.namespace.name" .Release.Namespace "k8s.deployment.name" (include "fairway.fullname" .) "k8s.pod.name" "$(FAIRWAY_INSTANCE_ID)" "k8s.node.name" "$(K8S_NODE_NAME)" }}
{{- $pairs := list }}
{{- range $name, $value := merge (deepCopy .Values.tracing.attributes) $own }}
{{- $pairs = append $pairs (printf "%s=%s" $name (hasPrefix "$(" $value | ternary $value (urlquery $value | replace "+" "%20"))) }}
{{- end }}
{{- join "," $pairs }}
{{- end }}

{{/* Names of variables that the chart sets itself. */}}
{{- define "fairway.ownedEnv" -}}
FAIRWAY_HOST FAIRWAY_PORT FAIRWAY_ADMIN_HOST FAIRWAY_ADMIN_PORT FAIRWAY_DATA_DIR FAIRWAY_DATABASE_URL FAIRWAY_DATABASE_PASSWORD FAIRWAY_REDIS_URL FAIRWAY_REDIS_PASSWORD FAIRWAY_REDIS_PREFIX FAIRWAY_PUBLIC_URL FAIRWAY_ROOT_PASSWORD FAIRWAY_SESSION_SECRET FAIRWAY_ENCRYPTION_KEY FAIRWAY_TRUSTED_PROXIES FAIRWAY_MAX_BODY_BYTES FAIRWAY_LOG_LEVEL FAIRWAY_LOG_FORMAT FAIRWAY_DRAIN_SECONDS FAIRWAY_DEMO FAIRWAY_SECRETS_DIR FAIRWAY_DOCUMENTS_DIR FAIRWAY_INSTANCE_ID FAIRWAY_LEADER FAIRWAY_LEADER_LEASE FAIRWAY_KUBERNETES_CONTROLLER FAIRWAY_KUBERNETES_NAMESPACES FAIRWAY_KUBERNETES_GATEWAY FAIRWAY_KUBERNETES_SECRETS FAIRWAY_KUBERNETES_OWN_SECRETS FAIRWAY_KUBERNETES_TOKEN_OWNERS FAIRWAY_KUBERNETES_RESYNC_SECONDS FAIRWAY_KUBERNETES_DRIFT FAIRWAY_KUBERNETES_MAX_DELETIONS FAIRWAY_KUBERNETES_FINALIZERS FAIRWAY_QUOTA_ON_OUTAGE FAIRWAY_SPOOL_MEGABYTES FAIRWAY_OTLP_ENDPOINT FAIRWAY_OTLP_HEADERS FAIRWAY_TRACE_SAMPLE FAIRWAY_GENAI_CONVENTION FAIRWAY_TRACE_SERVICE FAIRWAY_TRACE_ATTRIBUTES K8S_NODE_NAME FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT FAIRWAY_LOG_EXPORT_OTLP_HEADERS FAIRWAY_LOG_EXPORT_S3_URL FAIRWAY_LOG_EXPORT_S3_REGION FAIRWAY_LOG_EXPORT_S3_KEY_ID FAIRWAY_LOG_EXPORT_S3_KEY FAIRWAY_HTTPS_PROXY FAIRWAY_HTTP_PROXY FAIRWAY_NO_PROXY FAIRWAY_CA_FILE NODE_OPTIONS
{{- end }}

{{- /* Pods elect their leader by a Lease: demanded, or possible with the token that the controller needs anyway. */ -}}
{{- define "fairway.usesLease" -}}
{{- $isAuto := and (eq .Values.leaderElection.backend "auto") .Values.gitops.enabled (ne .Values.database.type "sqlite") }}
{{- if or $isAuto (eq .Values.leaderElection.backend "lease") }}true{{ end }}
{{- end }}

{{/* Bytes of a quantity of memory; 0 where it is empty or not in whole units. */}}
{{- define "fairway.bytes" -}}
{{- $number := regexFind "^[0-9.]+" (toString .) }}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- mulf (float64 $number) (get $units (trimPrefix $number (toString .)) | default 0) | int64 }}
{{- end }}

{{/* What every pod of the release needs to run where the cluster wants it, and to find its servers. */}}
{{- define "fairway.podPlace" -}}
{{- range $name := list "priorityClassName" "runtimeClassName" "dnsConfig" "hostAliases" "nodeSelector" "affinity" "tolerations" }}
{{- with get $.Values $name }}
{{ $name }}:{{ kindIs "string" . | ternary (toYaml . | printf " %s") (toYaml . | nindent 2) }}
{{- end }}
{{- end }}
{{- end }}
