/** Finds words of a fixed list anywhere in a text, in one pass whatever the number of words (Aho-Corasick). */
export interface WordFinder {
  /** Returns the first word that the text contains, in any case; undefined = none. */
  find(text: string): string | undefined;
}

/** Up to this number, words are searched one after the other, because the native search is ten times as fast. */
const FEW = 8;
const ROOT = 0;
const NONE = -1;

/** @param words compared in lower case; blank ones do not count */
export function createWordFinder(words: Iterable<string>): WordFinder {
  const list = [...new Set([...words].map((word) => word.trim().toLowerCase()))].filter((word) => word !== "");
  const trie = new Trie(list.reduce((sum, word) => sum + word.length, 1));
  const wordAt = new Map<number, string>();
  for (const word of list) wordAt.set(trie.add(word), word);
  const { fail, hit } = link(trie, wordAt);
  const first = firstLetters(list);
  return {
    find(text) {
      if (list.length === 0) return undefined;
      const lower = text.toLowerCase();
      if (list.length <= FEW && !list.some((word) => lower.includes(word))) return undefined;
      let node = ROOT;
      for (let at = 0; at < lower.length; at++) {
        const letter = lower.charCodeAt(at);
        if (node === ROOT && first[letter] === 0) continue;
        let next = trie.next(node, letter);
        while (next === NONE && node !== ROOT) {
          node = fail[node] as number;
          next = trie.next(node, letter);
        }
        node = next === NONE ? ROOT : next;
        const found = hit[node] as number;
        if (found !== NONE) return wordAt.get(found);
      }
      return undefined;
    },
  };
}

/** Returns the first letters of words, to skip most letters of a text with one check. */
function firstLetters(words: readonly string[]): Uint8Array {
  const letters = new Uint8Array(65_536);
  for (const word of words) letters[word.charCodeAt(0)] = 1;
  return letters;
}

/** Computes the next node if no edge fits, and the word that ends at each node. */
function link(trie: Trie, wordAt: ReadonlyMap<number, string>): { fail: Int32Array; hit: Int32Array } {
  const fail = new Int32Array(trie.size);
  const hit = new Int32Array(trie.size).fill(NONE);
  // Nodes are numbered along words; processing by depth ensures that a node's fallback is always known before the node.
  for (const node of trie.byDepth()) {
    const parent = trie.parent[node] as number;
    const letter = trie.letter[node] as number;
    let fallback = parent === ROOT ? NONE : (fail[parent] as number);
    let target = NONE;
    while (fallback !== NONE) {
      target = trie.next(fallback, letter);
      if (target !== NONE || fallback === ROOT) break;
      fallback = fail[fallback] as number;
    }
    fail[node] = target === NONE ? ROOT : target;
    hit[node] = wordAt.has(node) ? node : (hit[fail[node]] as number);
  }
  return { fail, hit };
}

/** A trie whose edges are in one open hash table: 100,000 words fit into a few megabytes. */
class Trie {
  readonly parent: Int32Array;
  readonly letter: Uint16Array;
  readonly #depth: Uint16Array;
  readonly #edges: Int32Array;
  readonly #mask: number;
  size = 1;

  constructor(nodes: number) {
    this.parent = new Int32Array(nodes);
    this.letter = new Uint16Array(nodes);
    this.#depth = new Uint16Array(nodes);
    const slots = 2 ** Math.ceil(Math.log2(nodes * 2 + 2));
    this.#edges = new Int32Array(slots).fill(NONE);
    this.#mask = slots - 1;
  }

  /** Adds a word; returns the node at which it ends. */
  add(word: string): number {
    let node = ROOT;
    for (let at = 0; at < word.length; at++) {
      const letter = word.charCodeAt(at);
      const slot = this.#slot(node, letter);
      let next = this.#edges[slot] as number;
      if (next === NONE) {
        next = this.size++;
        this.#edges[slot] = next;
        this.parent[next] = node;
        this.letter[next] = letter;
        this.#depth[next] = at;
      }
      node = next;
    }
    return node;
  }

  next(node: number, letter: number): number {
    return this.#edges[this.#slot(node, letter)] as number;
  }

  /** Returns all nodes except the root, in ascending depth. */
  byDepth(): Int32Array {
    const order = new Int32Array(this.size - 1);
    for (let node = 1; node < this.size; node++) order[node - 1] = node;
    return order.sort((one, other) => (this.#depth[one] as number) - (this.#depth[other] as number));
  }

  #slot(node: number, letter: number): number {
    let slot = (Math.imul(node, 0x9e3779b1) ^ Math.imul(letter, 0x85ebca6b)) >>> 7;
    for (slot &= this.#mask; ; slot = (slot + 1) & this.#mask) {
      const child = this.#edges[slot] as number;
      if (child === NONE || (this.parent[child] === node && this.letter[child] === letter)) return slot;
    }
  }
}
