/** The spellings of a name, such as `build-notes`. */
export interface Names {
  /** As given: kebab-case; a resource is in the plural. */
  readonly kebab: string;
  readonly snake: string;
  readonly camel: string;
  readonly pascal: string;
  /** The same spellings of one item. */
  readonly item: { readonly kebab: string; readonly camel: string; readonly pascal: string };
  /** For labels: `Build notes`. */
  readonly title: string;
}

export function buildNames(kebab: string): Names {
  const item = singular(kebab);
  const words = kebab.replaceAll("-", " ");
  return {
    kebab,
    snake: kebab.replaceAll("-", "_"),
    camel: camel(kebab),
    pascal: pascal(kebab),
    item: { kebab: item, camel: camel(item), pascal: pascal(item) },
    title: words.charAt(0).toUpperCase() + words.slice(1),
  };
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function pascal(name: string): string {
  return camel(`-${name}`);
}

function singular(name: string): string {
  return name.endsWith("ies") ? `${name.slice(0, -3)}y` : name.replace(/s$/, "");
}
