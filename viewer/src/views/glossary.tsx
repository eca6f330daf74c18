import { useEffect } from "preact/hooks";
import { glossary } from "../data/glossary";
import { route } from "../state/route";

/** What the words of the report mean; the one that the address names (?term=excess) is marked. */
export function GlossaryView() {
  const sections = [...new Set(glossary.map((t) => t.section))];
  const wanted = route.value.query.term;
  useEffect(() => {
    document.querySelector(".glossary tr.on")?.scrollIntoView({ block: "center" });
  }, [wanted]);
  return (
    <article class="detail glossary">
      <header class="headline">
        <h1>Glossary</h1>
        <p class="who muted">
          What the words of a report mean. Where Nsight Compute has a word, it is the same.
        </p>
      </header>
      {sections.map((section) => (
        <section key={section}>
          <h2>{section}</h2>
          <table class="plain">
            <tbody>
              {glossary
                .filter((t) => t.section === section)
                .map((t) => (
                  <tr key={t.term} class={t.term === wanted ? "on" : ""}>
                    <th scope="row" class="text">
                      {t.term}
                    </th>
                    <td class="text">{t.means}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </section>
      ))}
    </article>
  );
}
