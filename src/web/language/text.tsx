/**
 * The texts of a page in its language. English stands in the code; each other language is one file, which the compiler
 * checks: see `german.ts`.
 */
import type { Child } from "hono/jsx";
import type { Language } from "../../domain/language.ts";
import { currentShell } from "../layout/shell.ts";
import { GERMAN } from "./german.ts";

/** A text that every language has. */
export type Text = keyof typeof GERMAN;

const TEXTS: Readonly<Record<Exclude<Language, "en">, Readonly<Record<Text, string>>>> = {
  de: GERMAN,
};

/** The names of a text's values. */
type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

type Values<T extends string, Value> = [Names<T>] extends [never]
  ? []
  : [values: Readonly<Record<Names<T>, Value>>];

/** A text without values. */
export type PlainText = { [T in Text]: [Names<T>] extends [never] ? T : never }[Text];

/** A text that is chosen before its page is rendered, or the words of somebody else, which stay as they are. */
export type Message =
  | { readonly text: Text; readonly values: Readonly<Record<string, string | number | Message>> }
  | { readonly verbatim: string };

/** What a page can say. */
export type Said = PlainText | Message;

/** @example t("{count} new", { count: 3 }) */
export function t<T extends Text>(text: T, ...[values]: Values<T, string | number>): string {
  return filled(translated(text), values ?? {});
}

/** A text with elements in it. @example rich("See {link}.", { link: <a href="/account">{t("Your account")}</a> }) */
export function rich<T extends Text>(text: T, ...[values]: Values<T, Child>) {
  const parts: Readonly<Record<string, Child>> = values ?? {};
  // Every second piece is the name of a value.
  const pieces = translated(text).split(/\{(\w+)\}/);
  return <>{pieces.map((piece, index) => (index % 2 === 0 ? piece : parts[piece]))}</>;
}

/** A text for later: the language is known when its page is rendered. */
export function message<T extends Text>(
  text: T,
  ...[values]: Values<T, string | number | Message>
): Message {
  return { text, values: values ?? {} };
}

/** Words of the API, of an operator or of a person. */
export const verbatim = (words: string): Message => ({ verbatim: words });

export function say(said: Said): string {
  if (typeof said === "string") return translated(said);
  if ("verbatim" in said) return said.verbatim;
  const values = Object.entries(said.values).map(
    ([name, value]) => [name, typeof value === "object" ? say(value) : value] as const,
  );
  return filled(translated(said.text), Object.fromEntries(values));
}

/** A text whose values a script fills in. */
export const template = (text: Text): string => translated(text);

function translated(text: Text): string {
  const { language } = currentShell();
  return language === "en" ? text : TEXTS[language][text];
}

function filled(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
