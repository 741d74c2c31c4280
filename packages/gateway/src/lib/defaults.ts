/** Returns a copy of `defaults` with the defined members of `given`; other members of `given` are ignored. */
export function withDefaults<D extends object>(defaults: D, given: { readonly [K in keyof D]?: D[K] | undefined }): D {
  const result = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof D)[]) {
    const value = given[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}
