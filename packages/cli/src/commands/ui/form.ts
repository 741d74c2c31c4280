import { nearest } from "@fairway/wire";
import { findHint, formatErrorMessage } from "../../core/problem.ts";
import { formatCell } from "../../print/columns.ts";

/**
 * The purpose of a form: to create something, to disable rows for a time, to filter the log, or to write it to a file.
 */
type FormKind = "create" | "disable" | "filter" | "write";

export interface Field {
  readonly name: string;
  /** What to type, shown while the field is chosen. */
  readonly hint: string;
  readonly value: string;
  readonly isNeeded?: boolean;
  /** Shown as dots. */
  readonly isSecret?: boolean;
}

export interface Form {
  readonly kind: FormKind;
  /** Such as `Create a channel`. */
  readonly title: string;
  readonly fields: readonly Field[];
  /** Index of the chosen field. */
  readonly at: number;
  /** A question that must be confirmed before the form is sent; "" = none. */
  readonly question: string;
  readonly isAgreed: boolean;
  /** What is wrong with the chosen field, and how to correct it. */
  readonly problem: string;
}

export type Values = Readonly<Record<string, string>>;

/** A value that a form does not accept; `field` is the one to correct. */
export class FieldProblem extends Error {
  readonly field: string;

  constructor(field: string, message: string, cure: string) {
    super(cure === "" ? message : `${message}; ${cure}`);
    this.name = "FieldProblem";
    this.field = field;
  }
}

/** Reads a field; the error names the field, not the equivalent flag. */
export async function readField<T>(field: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new FieldProblem(field, formatErrorMessage(error).replace(/^--/, ""), findHint(error) ?? "");
  }
}

export function createForm(kind: FormKind, title: string, fields: readonly Omit<Field, "value">[]): Form {
  const empty = fields.map((field) => ({ ...field, value: "" }));
  return { kind, title, fields: empty, at: 0, question: "", isAgreed: false, problem: "" };
}

/** Returns trimmed texts; empty fields are absent. */
export function readValues({ fields }: Form): Values {
  const filled = fields.map(({ name, value }) => [name, value.trim()] as const).filter(([, value]) => value !== "");
  return Object.fromEntries(filled);
}

export function filledWith(form: Form, values: Values): Form {
  return { ...form, fields: form.fields.map((field) => ({ ...field, value: values[field.name] ?? field.value })) };
}

/** Returns the form with its first mistake, or unchanged. */
export function withProblem(form: Form, field: string, problem: string): Form {
  const at = form.fields.findIndex(({ name }) => name === field);
  return { ...form, at: at === -1 ? form.at : at, problem, question: "", isAgreed: false };
}

/** What a key does to a form: it returns another form, `send`, `leave`, or `draft` for the editor. */
export type FormStep = { readonly form: Form } | { readonly does: "send" | "leave" | "draft"; readonly form: Form };

export function pressForm(form: Form, key: string): FormStep {
  if (form.question !== "") return pressQuestion(form, key);
  if (key === "escape") return { does: "leave", form };
  if (key === "enter") return submitted(form);
  if (key === "ctrl-e" && form.kind === "create") return { does: "draft", form };
  const by = STEPS[key];
  if (by !== undefined) return { form: { ...form, at: (form.at + by + form.fields.length) % form.fields.length } };
  if (key === "backspace") return { form: typedInto(form, (value) => Array.from(value).slice(0, -1).join("")) };
  if (key === "ctrl-u") return { form: typedInto(form, () => "") };
  return { form: Array.from(key).length === 1 && key >= " " ? typedInto(form, (value) => value + key) : form };
}

const STEPS: Readonly<Record<string, number>> = { tab: 1, down: 1, up: -1, backtab: -1 };

/** Changes the value of the chosen field. */
export function typedInto(form: Form, change: (value: string) => string): Form {
  const fields = form.fields.map((field, at) => (at === form.at ? { ...field, value: change(field.value) } : field));
  return { ...form, fields, problem: "" };
}

function pressQuestion(form: Form, key: string): FormStep {
  const asked = { ...form, question: "" };
  return key.toLowerCase() === "y" ? { does: "send", form: { ...asked, isAgreed: true } } : { form: asked };
}

function submitted(form: Form): FormStep {
  const missing = form.fields.find(({ value, isNeeded }) => isNeeded && value.trim() === "");
  if (missing) return { form: withProblem(form, missing.name, `${missing.name} is empty; write ${missing.hint}`) };
  if (form.kind !== "create") return { does: "send", form };
  const named = form.fields.find(({ name, isNeeded }) => isNeeded && name.endsWith("name")) ?? form.fields[0];
  return { form: { ...form, problem: "", question: `${form.title}, ${named?.value.trim() ?? ""}?` } };
}

/** Formats the fields as a text for an editor: comments explain each field, and secrets are left out. */
export function formatDraft(form: Form): string {
  const fields = form.fields.map(({ name, hint, value, isSecret, isNeeded }) => {
    const shown = isSecret ? "" : value;
    const rest = isSecret && value !== "" ? "; left empty, what was typed stays" : "";
    return `# ${isNeeded ? "needed: " : ""}${hint}${rest}\n${name}: ${JSON.stringify(shown)}\n`;
  });
  return [`# ${form.title}. Nothing is sent before you agree to it on the screen.\n`, ...fields].join("\n");
}

/** Returns the form after its text was edited; `read` is the parsed text. An unknown field is reported by name. */
export function withDraft(form: Form, read: unknown): Form {
  if (typeof read !== "object" || read === null || Array.isArray(read))
    return { ...form, problem: "the text holds no fields; write name: value on each line" };
  const names = form.fields.map(({ name }) => name);
  const typed = new Map(Object.entries(read).map(([name, value]) => [name, formatValue(value)] as const));
  const fields = form.fields.map((field) => {
    const value = typed.get(field.name);
    return value === undefined || (field.isSecret && value === "") ? field : { ...field, value };
  });
  const unknown = [...typed.keys()].find((name) => !names.includes(name));
  if (unknown === undefined) return { ...form, fields, problem: "" };
  const near = nearest(unknown, names);
  const cure = near === undefined ? `write ${names.join(", ")}` : `did you mean ${near}?`;
  return { ...form, fields, problem: `there is no field ${unknown}; ${cure}` };
}

function formatValue(value: unknown): string {
  return Array.isArray(value) ? value.map(formatCell).join(",") : formatCell(value);
}
