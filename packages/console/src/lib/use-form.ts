import { useCallback, useMemo, useRef, useState } from "react";
import { afterPress } from "./press.ts";
import { ApiProblem } from "./problems.ts";

export type FormErrors<V> = Partial<Record<keyof V & string, string>>;

type TextName<V> = { [K in keyof V & string]: V[K] extends string ? K : never }[keyof V & string];

/** The properties that connect a text field to the form. */
interface FormInput {
  readonly name: string;
  readonly value: string;
  readonly error: string | undefined;
  onChange(value: string): void;
}

export interface Form<V> {
  readonly values: V;
  readonly errors: FormErrors<V>;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  set<K extends keyof V & string>(name: K, value: V[K]): void;
  /** Returns the properties of the field for a text. */
  input(name: TextName<V>): FormInput;
  /** Checks one field after the user leaves it, so that no error appears earlier. */
  touch(name: keyof V & string): void;
  /** Checks all fields and saves; returns true if that succeeded. */
  submit(): Promise<boolean>;
}

interface FormSpec<V> {
  readonly initial: V;
  check(values: V): FormErrors<V>;
  save(values: V): Promise<void>;
  /** Handles failures that belong to no field. */
  onProblem(problem: unknown): void;
}

/** Manages one form: its values, their errors, and whether there are unsaved changes. */
export function useForm<V extends object>(spec: FormSpec<V>): Form<V> {
  const [values, setValues] = useState(spec.initial);
  const [errors, setErrors] = useState<FormErrors<V>>({});
  const [isSaving, setSaving] = useState(false);
  const latest = useRef({ spec, values });
  latest.current = { spec, values };
  const isDirty = useMemo(() => JSON.stringify(values) !== JSON.stringify(spec.initial), [values, spec.initial]);

  const set = useCallback(<K extends keyof V & string>(name: K, value: V[K]) => {
    setValues((current) => ({ ...current, [name]: value }));
    setErrors((current) => removeError(current, name));
  }, []);

  const touch = useCallback((name: keyof V & string) => {
    afterPress(() => {
      const found = latest.current.spec.check(latest.current.values)[name];
      setErrors((current) => (found === undefined ? removeError(current, name) : { ...current, [name]: found }));
    });
  }, []);

  const submit = useCallback(async () => {
    const { spec: now, values: sent } = latest.current;
    const found = now.check(sent);
    setErrors(found);
    if (Object.keys(found).length > 0) return false;
    setSaving(true);
    try {
      await now.save(sent);
      return true;
    } catch (problem) {
      const field = problem instanceof ApiProblem ? problem.field : undefined;
      if (problem instanceof ApiProblem && field !== undefined && field in sent) {
        setErrors({ [field]: problem.message } as FormErrors<V>);
      } else {
        now.onProblem(problem);
      }
      return false;
    } finally {
      setSaving(false);
    }
  }, []);

  const input = (name: TextName<V>): FormInput => ({
    name,
    value: values[name] as string,
    error: errors[name],
    onChange: (value) => set(name, value as V[typeof name]),
  });

  return { values, errors, isDirty, isSaving, set, input, touch, submit };
}

function removeError<V>(errors: FormErrors<V>, name: keyof V & string): FormErrors<V> {
  if (!(name in errors)) return errors;
  const rest = { ...errors };
  delete rest[name];
  return rest;
}
