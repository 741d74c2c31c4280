export const en = {
  title: "Caches",
  cacheId: "Cache ID",
  copyId: "Copy {id}",
  model: "Model",
  tokens: "Tokens",
  storage: "Storage so far",
  deposit: "Reserved",
  user: "User",
  channel: "Channel",
  created: "Created",
  ends: "Ends",
  remove: "Delete",
  removeTitle: "Delete the cache {id}?",
  removeBody:
    "It is deleted here and at its provider, and its storage until now is charged. Requests that name it fail from then on.",
  removed: "The cache {id} was deleted.",
  emptyTitle: "No cached prompts",
  emptyBody:
    "Clients of Google's protocol store a long prompt at the provider once and name it in later calls, which read it at the price of cached tokens. Its storage is charged by tokens and time. This page lists these caches until they end.",
  emptyAction: "Go to the keys",
} as const;
