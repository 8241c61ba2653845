/** The page that asks before something ends. It works without a script. */
import type { PropsWithChildren } from "hono/jsx";
import { t } from "../language/text.tsx";
import { Page, type Section } from "./layout.tsx";

export interface ConfirmProps {
  readonly title: string;
  readonly section: Section;
  /** Where the form is sent, with its fields. */
  readonly path: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly button: string;
  readonly cancel_path: string;
}

/** `children`: what will happen, and further fields of the form. */
export function ConfirmPage(props: PropsWithChildren<ConfirmProps>) {
  const { title, section, path, fields, button, cancel_path, children } = props;
  return (
    <Page title={title} section={section} scripts={["times.js"]}>
      <section class="panel narrow">
        <h1>{title}</h1>
        <form method="post" action={path}>
          {fields.map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          {children}
          <div class="acts next">
            <button type="submit" class="danger">
              {button}
            </button>
            <a class="button quiet" href={cancel_path}>
              {t("Cancel")}
            </a>
          </div>
        </form>
      </section>
    </Page>
  );
}
