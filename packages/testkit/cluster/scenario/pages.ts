// What the cluster test does with each command of a page: `pages.nodes.test.ts` runs it, or this says why it does not.

/** How a command begins -> why it is not run; undefined = it is. */
export type Coverage = Readonly<Record<string, string | undefined>>;

const NO_DOCKER = "there is no Docker on a machine for tests";
const IMAGE = "`createWorld` runs it before the cluster starts";

export const PAGES: Readonly<Record<string, Coverage>> = {
  "docs/start/kubernetes.md": {
    "npm run build -- --image": IMAGE,
    "kind create cluster": NO_DOCKER,
    "helm install fairway": undefined,
    "helm test fairway": undefined,
    "kubectl --namespace models port-forward": undefined,
    "docker build": NO_DOCKER,
    "docker push": NO_DOCKER,
    "skopeo copy": "there is no registry; `release.test.ts` reads the archive",
    "kubectl create namespace": undefined,
    "kubectl --namespace models create secret generic fairway-secrets": undefined,
    "kubectl --namespace models create secret generic fairway-database": undefined,
    "kubectl --namespace models create secret generic fairway-redis": undefined,
    "helm upgrade --install fairway charts/fairway --namespace models -f": undefined,
    "kubectl --namespace models rollout status": undefined,
    "helm uninstall": undefined,
    "kubectl --namespace models delete secret": undefined,
    "kubectl --namespace models get secret": undefined,
    "helm upgrade --install fairway charts/fairway --namespace models --set": undefined,
    "helm upgrade fairway": undefined,
    "helm history": undefined,
    "helm rollback": undefined,
  },
  "docs/operate/gitops.md": {
    "helm install fairway-crds": undefined,
    "helm upgrade fairway": undefined,
    "kubectl label": undefined,
    "kubectl apply -k": undefined,
    "kubectl get fairway": undefined,
    "kubectl annotate -n ai channel/old-1": undefined,
    "kubectl annotate -n ai channel/main": undefined,
    "kubectl wait": undefined,
    "kubectl apply -n ai -f": undefined,
    "fairway kube status": undefined,
    "fairway kube doctor": undefined,
    "fairway kube leader -n ai --step-down": undefined,
    "fairway kube leader -n ai": undefined,
    "fairway kube gitops -n ai": undefined,
    "fairway kube gitops reconcile": undefined,
    "fairway kube gitops pause": undefined,
    "fairway kube logs": undefined,
    "fairway kube port-forward": undefined,
    "fairway kube crds install": undefined,
    "fairway kube uninstall": undefined,
    "kubectl annotate -n ai channels.fairway.dev": undefined,
    "kubectl delete": undefined,
    "kubectl patch": undefined,
  },
};
