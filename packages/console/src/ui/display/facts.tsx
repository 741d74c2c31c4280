import { Fragment, type ReactNode } from "react";
import "./facts.css";

/** Names and values of one thing; empty values are left out. */
export function Facts(props: { readonly title: string; readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <section>
      <h3>{props.title}</h3>
      <dl>
        {props.items
          .filter(([, value]) => value !== "" && value !== undefined)
          .map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
      </dl>
    </section>
  );
}
