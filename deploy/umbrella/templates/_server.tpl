{{- /* The image of a server, from the registry of all charts. */ -}}
{{- define "platform.image" -}}
{{ with .root.Values.global.imageRegistry }}{{ . }}/{{ end }}{{ .image }}
{{- end }}

{{- /* The parts of a pod that are equal in both servers; `user` is the account of the image. */ -}}
{{- define "platform.pod" -}}
automountServiceAccountToken: false
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ if kindIs "map" . }}{{ .name }}{{ else }}{{ . }}{{ end }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "platform.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "platform.volume" -}}
volumeClaimTemplates:
  - metadata: { name: data }
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: { requests: { storage: {{ .size }} } }
{{- end }}

{{- define "platform.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}
