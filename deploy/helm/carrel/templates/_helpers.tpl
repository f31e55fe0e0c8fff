{{- define "carrel.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "carrel.labels" -}}
{{ include "carrel.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "carrel.selector" -}}
app.kubernetes.io/name: carrel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "carrel.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "carrel.sessionsNamespace" -}}
{{ .Values.sessions.namespace | default (printf "%s-sessions" .Release.Namespace) }}
{{- end }}

{{- define "carrel.secret" -}}
{{ .Values.existingSecret | default (include "carrel.name" .) }}
{{- end }}

{{- define "carrel.databaseSecret" -}}
{{ .Values.database.existingSecret | default (printf "%s-database" (include "carrel.name" .)) }}
{{- end }}

{{- define "carrel.dataClaim" -}}
{{ .Values.data.existingClaim | default (printf "%s-data" (include "carrel.name" .)) }}
{{- end }}

{{/* The claim by which sessions mount folders of the data volume; empty: there is none. */}}
{{- define "carrel.sessionsDataClaim" -}}
{{- if or .Values.data.volume (eq (include "carrel.sessionsNamespace" .) .Release.Namespace) -}}
{{ include "carrel.dataClaim" . }}
{{- else -}}
{{ .Values.sessions.dataClaim }}
{{- end -}}
{{- end }}

{{- define "carrel.foldersLocation" -}}
{{- with include "carrel.sessionsDataClaim" . -}}
volume://{{ . }}/folders
{{- else -}}
nowhere
{{- end -}}
{{- end }}

{{- define "carrel.publicHost" -}}
{{ regexReplaceAll ":[0-9]+$" (urlParse .Values.publicUrl).host "" }}
{{- end }}

{{- define "carrel.appsHost" -}}
*.{{ regexReplaceAll ":[0-9]+$" (urlParse .Values.appsUrl).host "" }}
{{- end }}

{{/* Where people reach SSH, with its port. */}}
{{- define "carrel.sshAddress" -}}
{{- $ssh := .Values.gateway.ssh -}}
{{- $host := $ssh.address | default (include "carrel.publicHost" .) -}}
{{- if contains ":" $host -}}
{{ $host }}
{{- else -}}
{{ printf "%s:%v" $host (ternary $ssh.nodePort $ssh.port (eq $ssh.type "NodePort")) }}
{{- end -}}
{{- end }}

{{/* Sources in a network policy: pods of all namespaces but that of sessions, and addresses that are not of pods. */}}
{{- define "carrel.clients" -}}
- namespaceSelector:
    matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: NotIn, values: [{{ include "carrel.sessionsNamespace" . }}]}
{{- with .Values.networkPolicy.podNetworks }}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{- toYaml . | nindent 6 }}
{{- end }}
{{- end }}

{{/* Nothing is written to the root file system, and nothing needs a right. */}}
{{- define "carrel.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "carrel.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "carrel.engineUrl" -}}
{{- printf "kubernetes:%s/%s?user_namespaces=%t" (include "carrel.sessionsNamespace" .) .Release.Namespace .Values.sessions.userNamespaces }}
{{- with .Values.sessions.appLayer }}{{ printf "&app_layer=%s" (urlquery .) }}{{ end }}
{{- with .Values.sessions.appLayerDirectory }}{{ printf "&app_layer_directory=%s" (urlquery .) }}{{ end }}
{{- end }}

{{- define "carrel.environment" -}}
- name: CARREL_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ include "carrel.databaseSecret" . }}, key: url}}
- {name: CARREL_KEY_FILE, value: /run/secrets/carrel/key}
- {name: CARREL_ENGINE_URL, value: {{ include "carrel.engineUrl" . | quote }}}
- {name: CARREL_FOLDERS_LOCATION, value: {{ include "carrel.foldersLocation" . | quote }}}
- {name: CARREL_PUBLIC_URL, value: {{ .Values.publicUrl | quote }}}
- {name: CARREL_APPS_URL, value: {{ .Values.appsUrl | quote }}}
- {name: CARREL_TRUSTED_PROXIES, value: {{ join "," .Values.trustedProxies | quote }}}
- {name: CARREL_PORT, value: "8700"}
- {name: CARREL_GATEWAY_PORT, value: "8701"}
- {name: CARREL_METRICS_PORT, value: "8702"}
{{- if .Values.gateway.ssh.enabled }}
- {name: CARREL_SSH_PORT, value: "8703"}
- {name: CARREL_SSH_ADDRESS, value: {{ include "carrel.sshAddress" . | quote }}}
{{- else }}
{{/* The gateway has no rights in the cluster; carrel ssh goes through the API, which has. */}}
- {name: CARREL_SSH_PORT, value: "-1"}
{{- end }}
{{- range $name, $value := .Values.settings }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{/* A Deployment of one role. Takes root, role, port, path (before those of its probes), engine (it has rights in the
cluster), data (it has the data volume) and migrates. */}}
{{- define "carrel.deployment" -}}
{{- $values := index .root.Values .role -}}
{{- $name := printf "%s-%s" (include "carrel.name" .root) .role -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels: {{- include "carrel.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  replicas: {{ $values.replicas }}
  strategy:
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  selector:
    matchLabels: {{- include "carrel.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
  template:
    metadata:
      labels: {{- include "carrel.labels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
      annotations:
        checksum/database: {{ .root.Values.database | toJson | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "carrel.name" .root }}
      automountServiceAccountToken: {{ .engine }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ add .root.Values.drainSeconds 30 }}
      securityContext: {{- include "carrel.podSecurity" .root | nindent 8 }}
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if .migrates }}
      initContainers:
        - name: migrate
          image: {{ include "carrel.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [migrate, --admin-email, {{ .root.Values.adminEmail | quote }}, --admin-password-file, /run/secrets/carrel/admin-password]
          env: {{- include "carrel.environment" .root | nindent 12 }}
          {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
          {{- end }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {{- include "carrel.containerSecurity" .root | nindent 12 }}
          volumeMounts: {{- include "carrel.mounts" . | nindent 12 }}
      {{- end }}
      containers:
        - name: {{ .role }}
          image: {{ include "carrel.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [serve, --roles, {{ .role }}]
          env: {{- include "carrel.environment" .root | nindent 12 }}
          {{- if eq .role "api" }}
            # Where the other copies reach this one.
            - name: POD_ADDRESS
              valueFrom: {fieldRef: {fieldPath: status.podIP}}
            - {name: CARREL_INTERNAL_URL, value: "http://$(POD_ADDRESS):8700"}
          {{- end }}
          {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - {name: http, containerPort: {{ .port }}}
            {{- if and (eq .role "gateway") .root.Values.gateway.ssh.enabled }}
            - {name: ssh, containerPort: 8703}
            {{- end }}
          startupProbe:
            httpGet: {path: {{ .path }}/healthz, port: http}
            periodSeconds: 2
            failureThreshold: 150
          livenessProbe:
            httpGet: {path: {{ .path }}/healthz, port: http}
            periodSeconds: 10
            timeoutSeconds: 10
            failureThreshold: 6
          readinessProbe:
            httpGet: {path: {{ .path }}/readyz, port: http}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          {{- if hasKey $values "service" }}
          lifecycle:
            preStop:
              # Until load balancers have stopped sending to it.
              exec: {command: [sleep, {{ .root.Values.drainSeconds | quote }}]}
          {{- end }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {{- include "carrel.containerSecurity" .root | nindent 12 }}
          volumeMounts: {{- include "carrel.mounts" . | nindent 12 }}
      volumes:
        - {name: tmp, emptyDir: {}}
        - name: secret
          secret: {secretName: {{ include "carrel.secret" .root }}, defaultMode: 0440}
        {{- if .data }}
        - name: data
          persistentVolumeClaim: {claimName: {{ include "carrel.dataClaim" .root }}}
        {{- end }}
        {{- with $values.volumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "carrel.selector" .root | nindent 14 }}
              app.kubernetes.io/component: {{ .role }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}

{{- define "carrel.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: secret, mountPath: /run/secrets/carrel, readOnly: true}
{{- if .data }}
- {name: data, mountPath: /var/lib/carrel}
{{- end }}
{{- with (index .root.Values .role).volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A Service of one role. Takes root and role. */}}
{{- define "carrel.service" -}}
{{- $service := (index .root.Values .role).service -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "carrel.name" .root }}-{{ .role }}
  labels: {{- include "carrel.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  type: {{ $service.type }}
  selector: {{- include "carrel.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  ports:
    - {name: http, port: {{ $service.port }}, targetPort: http}
{{- end }}
