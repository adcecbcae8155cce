"""How languages state an answer: one row of word lists each, and no rule that knows a language.

Every entry is a regular expression without groups of its own, to be matched without regard to case. A
language is added by a row here; the grammar of `statements` stays.
"""

# ruff: noqa: RUF001, E501 - the words of other scripts are the content, a list of words is one line

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Language:
    """The words of one language.

    Before a choice: `answer`, what a reply calls its answer; `option`, what it calls a choice; `is_`, what
    joins them; `choose`, to pick; `matches`, to agree with; `fill`, what says no more than the choice itself
    (*so it must be*). Behind one: `right`, to be correct; `chosen`, to be picked; `tail`, endings and
    afterthoughts. Anywhere: `no`, `but`, `or_`, `because`, `so`, `wait` (to correct oneself), `supposed` (what
    makes of a statement the opinion of others, a condition or a first impression), `perhaps` (a guess). `denied` says behind
    a choice that it is not the answer; `none`, that no choice is. `signs` are words by which the language is known.
    """

    answer: str
    option: str
    is_: str
    choose: str
    right: str
    no: str
    but: str
    or_: str
    because: str
    so: str
    fill: str
    wait: str = ""
    supposed: str = ""
    perhaps: str = ""
    matches: str = ""
    chosen: str = ""
    tail: str = ""
    denied: str = ""
    none: str = ""
    signs: str = ""
    is_spaced: bool = True


# What other languages call an answer, before a colon.
ANSWERS_ELSEWHERE = r"(?:antwoord|svar|odpowiedź|odpověď|vastaus|cevap|jawaban|đáp\s+án|उत्तर|απάντηση)"
SCRIPTS = {
    "ru": "[\u0400-\u04ff]",
    "ar": "[\u0600-\u06ff]",
    "zh": "[\u4e00-\u9fff]",
    "ja": "[\u3040-\u30ff\u4e00-\u9fff]",
    "ko": "[\uac00-\ud7af]",
}
"""By which characters a language is known; the others by their words `signs`."""
_BEST = (
    r"(?:(?:most|more)\s+(?!un)\w+|best|correct|right|accurate|true|supported|closest|only|likeliest"
    r"|obvious|final|clear"
    r"|chosen|proper|valid|selected|chosen|picked|better|likely|probable|appropriate|logical|strongest"
    r"|winning|my|safest)"
)
_NOUN = (
    r"(?:answer|ans|solution|conclusion|choice|option|selection|pick|guess|prediction|verdict|decision"
    r"|result|bet|vote|response"
    r"|output|letter|match|fit|alternative|candidate|description|explanation|possibility|interpretation"
    r"|one|winner|money|call|(?:selected|chosen)(?=\W*[:=]))"
)
_VIEW = (
    r"(?:scene|video|clip|frames?|question|evidence|footage|action|description|content|visual|observ\w+"
    r"|what\s+(?:is|was|we|i)\s+\w+|this|it|everything)"
)

LANGUAGES = {
    "en": Language(
        answer=_NOUN,
        option=r"(?:the\s+)?(?:(?:correct|right|final)\s+)?(?:option|choice|answer|letter|alternative"
        r"|candidate|selection)",
        is_=r"(?:(?<=\w)'s|is|was|are|be|seems|appears|looks(?:\s+like)?|goes\s+to|comes\s+(?:out"
        r"|down)\s+(?:to|as)|falls\s+on|remains|lies\s+with)",
        choose=r"(?:(?:i|we|me|us|let's|to|i'd|i'll|i'm|we'd|and)\b[^.,:;!?\n]{0,30}?\s|^\W*|[,:]\s*)"
        r"(?:choos(?:e|ing)|chose|pick(?:ed|ing)?|select(?:ed|ing)?|go(?:ing)?\s+(?:with|for)|opt(?:ed"
        r"|ing)?\s+for|settl(?:e|ed|ing)\s+(?:on|for)"
        r"|vot(?:e|ing)\s+for|say|guess|answer|conclude|decid(?:e|ed)\s+(?:on|for|in\s+favou?r\s+of)"
        r"|lean(?:ing)?\s+(?:towards?|to)"
        r"|inclined\s+(?:towards?|to)|stick(?:ing)?\s+(?:with|to)|bet\s+on|submit|take|favou?r|prefer"
        r"|put(?:\s+down)?|mark|think|believe"
        r"|left\s+with|chang(?:e|ing|ed)\s+(?:my|the)\s+\w+\s+to|switch(?:ing)?\s+to"
        r"|mea?nt?(?:\s+to\s+say)?|commit(?:ting)?\s+to|land(?:ed|ing)?\s+on|end(?:ed)?\s+up\s+(?:with|at"
        r"|on)|arrived?\s+at|back|endorse|give"
        r"|identify|trust|reply(?:\s+with)?|respond(?:\s+with)?|enter|tick|circle)(?:\s+(?:that|it(?:'s"
        r"|\s+is)|that\s+it(?:'s|\s+is)))?",
        matches=r"(?:match(?:es|ing)?(?:\s+up)?(?:\s+(?:best\s+)?(?:with|to))?|correspond(?:s"
        r"|ing)?\s+(?:best\s+)?(?:to|with)|consistent\s+with"
        r"|align(?:s|ed|ing)?\s+(?:\w+\s+)?with|points?\s+(?:\w+\s+)?(?:to(?:wards?)?|at)|lead(?:s"
        r"|ing)?\s+(?:\w+\s+)?to|(?:described|represented|captured"
        r"|given|listed|stated|reflected|covered)\s+(?:\w+\s+)?(?:by|as|in|under)|supports?|suggests?"
        r"|indicates?|means|agrees?\s+with|fits?(?:\s+with)?"
        r"|equals|equivalent\s+to|refers?\s+to|maps?\s+(?:on)?to|in\s+favou?r\s+of"
        r"|narrows?\s+(?:it\s+)?down\s+to|confirms?|makes?)",
        right=rf"[-:(]+\s*(?:this\s+(?:one\s+)?(?:is\s+)?)?(?:the\s+)?(?:correct|right|true|yes|matches"
        rf"|(?:(?:it|this)\s+)?(?:best\s+)?(?:fits|matches)\s+(?:the\s+)?{_VIEW}|(?:is\s+)?what\s+(?:the"
        rf"|we|is|was|i)\s+\w+(?:\s+\w+)?)(?:\s+{_NOUN})?(?=\s*(?:[^\w\s]|\Z))|the\s+{_BEST}\s+{_NOUN}"
        rf"|the\s+answer|is\s+left|is\s+the\s+only\s+\w+\s+left|(?:'s|is|was|seems|appears|looks|(?:must"
        rf"|has\s+to|should|would|will|can\s+only)\s+be|remains|stands\s+out\s+as|as)\s+"
        rf"(?:to\s+be\s+|like\s+|\w+ly\s+|then\s+|thus\s+|the\s+|my\s+|a\s+|our\s+|what\s+|indeed\s+){{0,4}}"
        rf"(?:{_BEST}(?:\s+(?:and\s+)?{_BEST})*(?:\s+{_NOUN})?|(?<=the\s){_NOUN}|answer|way\s+to\s+go"
        rf"|(?:i|we)(?:'d|'ll|\s+would|\s+will)?\s+\w+"
        r"|supported\s+by\s+\w+\s+\w+)(?!\s+(?:behind|ahead|next|in\s+front|there|here\s+in|now|before"
        r"|after|above|below|by\s+the|outside|over|off)\b)"
        rf"|(?:best\s+|clearly\s+)?(?:fits|matches|describes|captures|reflects|explains|answers"
        rf"|represents|summari[sz]es)\s+(?:best|(?:the\s+)?(?:\w+\s+)?{_VIEW})"
        r"|best\s+(?:fits|matches|describes|captures|reflects|explains|answers|represents|summari[sz]es)"
        r"|makes?\s+(?:the\s+)?(?:most\s+)?sense|wins"
        r"|it\s+is|gets\s+my\s+vote|works\s+best|is\s+it|fits\s+best",
        chosen=r"is\s+(?:what|the\s+one|where)\s+i\b",
        no=r"(?:not|never|cannot|\w*n't|no(?!\s+doubt)|neither|nor|unless|whether"
        r"|(?<!no\s)(?<!\ba\s)(?<!any\s)doubt(?!less)|exclud\w+|eliminat(?:e|es|ed|ing)|reject\w*"
        r"|rul\w+\s+out|discard\w*"
        r"|dismiss\w*|instead\s+of|rather\s+than|other\s+than|except|unlike|wrong|incorrect|false|less"
        r"|least|unlikely|other|another|previous|unsure|beyond|hardly|anything\s+but|either|between)",
        but=r"(?:but|rather|instead|it's|it\s+is|however|yet)",
        or_=r"(?:or|and|and/or|nor|versus|vs\.?)",
        because=r"(?:because|since|due\s+to|based\s+on|given|considering|as\s+(?:the|it|he|she|they|we"
        r"|there|this|i|in|seen|shown|indicated)|rather\s+than|instead\s+of|over|and\s+not|not)",
        so=r"(?:so|thus|hence|therefore|consequently|in\s+conclusion|in\s+summary|to\s+conclude|finally"
        r"|final|overall|ultimately|(?:by\s+)?(?:the\s+|a\s+)?(?:process\s+of\s+)?elimination|after\s+all"
        r"|leav(?:es|ing)|conclude\w*|accordingly|altogether)",
        fill=r"(?:\w+ly|then|well|ok|okay|sure|yes|yeah|yep|right|hmm+|i(?:'d|'ll|'m|\s+would|\s+will"
        r"|\s+am)?(?:\s+(?:think|believe|guess|say|confident|certain|sure))?"
        r"|it|this|that|which|the|must|should|would|will|has|to|can|only|be|is|(?<=\w)'s|was|looks\s+like"
        r"|seems|appears|like|most|more|my|for|me|us|with|in|fact|(?<!\()an?|just|answer|here|going|still"
        r"|now|of|course"
        r"|correct|right|best|option|choice|letter|assistant|clear|cut|bet|leav(?:es|ing)|still|down|and"
        r"|definite|probable|likely|mak(?:es|ing)|to\s+me|by|on)",
        wait=r"(?:no(?=\s*[,.;:!-]|\s+(?:it|wait|actually|the\s+answer)\b)|nope|wait|hold\s+on|hmm+"
        r"|actually|correction|corrected|sorry|oops|scratch\s+that|strike\s+that|or\s+rather"
        r"|i\s+mea?nt?(?:\s+to\s+say)?|on\s+(?:second|closer|further|reflection)(?:\s+(?:thoughts?|look"
        r"|inspection))?|my\s+(?:mistake|bad|apologies)|i\s+was\s+wrong|i\s+misread|looking\s+again"
        r"|having\s+looked\s+again"
        r"|let\s+me\s+(?:look|check|think|watch|re\w+)|reconsider\w*|i\s+take\s+(?:that|it)\s+back"
        r"|revis(?:e|ed|ing)|change\s+my|changed\s+my|amend\w*|rethink\w*|apolog\w+|edit(?:ed)?(?=:)"
        r"|update(?=:)|(?:thinking|checking|looking|watching)\s+(?:\w+\s+)?again|re-?check\w*"
        r"|second\s+look|chang(?:e|ing|ed)\s+my)",
        supposed=r"(?:(?:some(?:one|body)?|you|people|others?|many|most|anyone|every(?:one|body)|he|she"
        r"|they|one|(?:a|the)\s+(?:\w+\s+)?(?:student|user|viewer|reader|person|model|observer|annotator"
        r"|friend|colleague)s?)\b(?:\s+\w+){0,3}?"
        r"\s+(?:say|think|argue|expect|believe|guess|assume|claim|suggest|choose|chose|answer|pick|picked"
        r"|suppose|consider|conclude|said|thought|claimed|answered|says|thinks|claims|select|selected"
        r"|prefer|asks?|be\s+tempted)"
        r"|at\s+first|first\s+(?:impression|sight|glance|thought|instinct|guess)|initial(?:ly)?|(?:may"
        r"|might|could|would)\s+(?:\w+\s+)?(?:seem|appear|look|be\s+tempting)|suppos(?:e|ing)|imagine"
        r"|pretend|tempt\w+|let(?:'s|\s+us)\s+(?:say|assume|suppose)|assum(?:e|ing)|hypothetically"
        r"|if(?!\s+(?:i|we|you|one)\s+(?:had\s+to|have\s+to|must|look|watch|consider|count|examine"
        r"|observe|focus|follow|check|am\s+forced|were\s+(?:forced|to)|was\s+forced))(?!\s+(?:forced"
        r"|pressed|pushed|anything))|unless|otherwise|had\s+(?:the|he|she|it|they)|were\s+(?:the|he|she"
        r"|it|they)|in\s+case"
        r"|(?:his|her|their|(?!(?:it|that|this|what|here|there|let)')\w+'s|(?:the|a)\s+\w+\s+of\s+(?:the"
        r"|a)\s+\w+)\s+(?:final\s+|own\s+)?(?:answer|choice|pick|guess|vote|selection)|whether)",
        perhaps=r"(?:could|might|may|possibly|maybe|perhaps|can't\s+tell|used\s+to|(?:was"
        r"|were)\s+(?:about|going|tempted|inclined)\s+to|would\s+have|almost|nearly)",
        tail=r"(?:i\s+(?:think|guess|believe|suppose|would\s+say)|for\s+sure|it\s+is|definitely"
        r"|most\s+likely|probably|likely|it\s+seems|obviously|clearly|certainly|(?:with\s+)?(?:an?\s+"
        r"|my\s+)?(?:\w+\s+)?(?:confidence|probability|certainty)\b.*|\d{1,3}(?:\.\d+)?\s*%.*|then"
        r"|confident|final\s+answer|of\s+course|here|overall)",
        none=r"(?:none|neither|no\s+(?:answer|option|choice|one|correct)|n/?a\b|not\s+(?!only)|unclear"
        r"|unknown|uncertain|undetermined|cannot|can't|impossible|either|both|any\b|all\s+of)",
    ),
    "de": Language(
        answer=r"(?:antwort(?:möglichkeit|option)?|lösung|option|wahl|ergebnis|entscheidung|buchstabe"
        r"|tipp|fazit)",
        option=r"(?:(?:die|der|das)\s+)?(?:antwort(?:möglichkeit|option)?|option|buchstaben?|möglichkeit"
        r"|variante|auswahl)",
        is_=r"(?:ist|lautet|wäre|sein|heißt|bleibt|fällt\s+auf)",
        choose=r"(?:ich\s+(?:würde\s+)?(?:also\s+|daher\s+|hier\s+)?(?:wähle|nehme|sage|tippe\s+auf"
        r"|entscheide\s+mich\s+(?:\w+\s+)?für|würde|glaube|denke|meine|vermute|gehe\s+(?:\w+\s+)?mit"
        r"|mich\s+für)(?:\s+mich\s+für|\s+auf)?|(?:wähle|nehme)\s+ich|entscheide\s+ich\s+mich\s+für)",
        matches=r"(?:entspricht|passt\s+(?:\w+\s+)?zu|deckt\s+sich\s+mit|stimmt\s+mit|spricht\s+für)",
        right=r"(?:(?:die\s+)?(?:richtig|korrekt)\w*(?:\s+(?:antwort|option))?(?:\s+(?:ist|wäre"
        r"|sein\s+muss))?|ist\s+es)|(?:ist|wäre|scheint|muss)\s+(?:\w+\s+)?(?:(?:die|am)\s+)?(?:richtig"
        r"|korrekt|beste|wahrscheinlichste|zutreffend|plausibelste)(?:e|en|er|es"
        r"|ste[nr]?)?(?:\s+(?:zu\s+sein|sein|antwort|option|wahl|lösung))?|stimmt|trifft\s+zu"
        r"|passt\s+am\s+besten|ist\s+die\s+(?:antwort|lösung)",
        chosen=r"(?:wählen|nehmen|entscheiden|sagen|tippen)",
        no=r"(?:nicht|kein\w*|weder|falsch\w*|statt|ausgeschlossen|ob)",
        but=r"(?:sondern|vielmehr|aber)",
        or_=r"(?:oder|und)",
        because=r"(?:weil|da|denn|aufgrund|und\s+nicht|nicht|statt|wegen|im|in|mit)",
        so=r"(?:also|daher|somit|folglich|deshalb|demnach|letztlich|schließlich|insgesamt)",
        fill=r"(?:es|das|die|der|ist|muss|sein|wäre|lautet|eindeutig|sicher|wahrscheinlich|wohl|ich|denke"
        r"|glaube|dass|ja|klar|ganz|meine|antwort|dies|richtig|richtige|korrekt|korrekte|würde|sagen"
        r"|meiner?|meinung|nach|hier)",
        wait=r"(?:nein|moment|doch|halt|korrektur|entschuldigung|eigentlich|besser\s+gesagt"
        r"|genauer\s+betrachtet|ich\s+meine)",
        supposed=r"(?:wenn|falls|man\s+könnte|manche|auf\s+den\s+ersten\s+blick|zunächst|zuerst"
        r"|angenommen|andere)",
        perhaps=r"(?:könnte|vielleicht|möglicherweise|eventuell)",
        tail=r"(?:sein|denke\s+ich|glaube\s+ich|richtig|würde\s+ich\s+sagen)",
        none=r"(?:keine?|nicht|unklar|weder)",
        signs="das der ein eine und entspricht wird auf den ergebnis lösung meinung muss dass es daher aber richtig antwort ist ich richtig richtige nicht wähle lösung sondern",
    ),
    "fr": Language(
        answer=r"(?:r[ée]ponse|option|choix|solution|lettre|proposition|conclusion|r[ée]sultat)",
        option=r"(?:la\s+|l'|le\s+)?(?:option|r[ée]ponse|lettre|proposition|choix)",
        is_=r"(?:est|serait|être|reste|semble(?:\s+être)?)",
        choose=r"(?:je\s+(?:\w+\s+)?(?:choisis|sélectionne|dirais|réponds|pense|crois|opte\s+pour|prends"
        r"|vote\s+pour|penche\s+pour|choisirais|retiens)(?:\s+(?:donc|pour|que\s+c'est|plutôt))*"
        r"|j'(?:opte\s+pour|opterais\s+pour|ai\s+choisi|estime\s+que\s+c'est)"
        r"|mon\s+choix\s+se\s+porte\s+sur)",
        matches=r"(?:correspond(?:ant)?\s+(?:\w+\s+)?à|est\s+cohérent\s+avec)",
        right=r"(?:est|semble|serait)\s+(?:\w+\s+)?(?:(?:la|le)\s+)?(?:plus\s+\w+|bonne?|correcte?"
        r"|exacte?|juste|meilleure?)(?:\s+(?:r[ée]ponse|option|choix))?|convient\s+le\s+mieux"
        r"|est\s+la\s+(?:réponse|solution)",
        no=r"(?:pas|non|ni|aucune?|incorrecte?|fausse|mauvaise|si|plutôt\s+que)",
        but=r"(?:mais(?:\s+plutôt)?|plutôt)",
        or_=r"(?:ou|et)",
        because=r"(?:car|parce|puisque|en|dans|et\s+non|pas|plutôt|d'après|selon)",
        so=r"(?:donc|ainsi|par\s+conséquent|finalement|en\s+conclusion|alors)",
        fill=r"(?:c'est|la|le|l'|est|ce|doit|être|serait|bien|sûrement|probablement|clairement|je|pense"
        r"|crois|que|oui|bonne|correcte|ma|réponse|il|s'agit|de|pour|moi)",
        wait=r"(?:non(?=\s*[,.:!])|attendez|en\s+fait|pardon|correction|plutôt|désolée?|finalement)",
        supposed=r"(?:si|certains|on\s+pourrait\s+croire|à\s+première\s+vue|d'abord|supposons)",
        perhaps=r"(?:pourrait|peut-être)",
        tail=r"(?:je\s+(?:pense|crois)|sans\s+doute)",
        none=r"(?:aucune?|ni|pas)",
        signs="le les une cela dans sur qui opte pense mais bonne doit réponse reponse est je donc pas choisis correspond",
    ),
    "es": Language(
        answer=r"(?:respuesta|opci[óo]n|alternativa|elecci[óo]n|soluci[óo]n|letra|conclusi[óo]n|resultado)",
        option=r"(?:(?:la|el)\s+)?(?:opci[óo]n|respuesta|letra|alternativa)",
        is_=r"(?:es|sería|ser|parece(?:\s+ser)?)",
        choose=r"(?:(?:yo\s+|me\s+|voy\s+a\s+)?(?:elijo|escojo|selecciono|elegiría|escogería|elegir"
        r"|quedo\s+con|inclino\s+por|decido\s+por|opto\s+por|optaría\s+por|diría|creo|pienso|voto\s+por"
        r"|decanto\s+por|marco|respondo)(?:\s+que(?:\s+es)?)?)",
        matches=r"(?:corresponde\s+a|coincide\s+con|concuerda\s+con)",
        right=r"(?:es|sería|parece)\s+(?:\w+mente\s+)?(?:(?:la|el)\s+)?(?:(?:respuesta"
        r"|opci[óo]n)(?:\s+(?:correcta|adecuada))?|correct[ao]|adecuada|acertada|m[áa]s\s+\w+"
        r"|mejor(?:\s+\w+)?)",
        no=r"(?:no|ni|nunca|incorrecta|equivocada|falsa|ninguna|en\s+lugar\s+de|en\s+vez\s+de)",
        but=r"(?:sino|pero)",
        or_=r"(?:o|u|y|e)",
        because=r"(?:porque|ya\s+que|dado|debido|en|y\s+no|no|pues|según)",
        so=r"(?:entonces|por\s+(?:lo\s+)?tanto|así|finalmente|en\s+conclusión|por\s+eso|luego)",
        fill=r"(?:es|la|el|lo|esto|ser|debe|sería|claramente|probablemente|seguramente|creo|pienso|que|sí"
        r"|correcta|mi|respuesta|se|trata|de|para|mí|\w+mente)",
        wait=r"(?:no(?=\s*[,.:!])|espera|en\s+realidad|perdón|corrección|mejor\s+dicho|más\s+bien)",
        supposed=r"(?:si|algunos|a\s+primera\s+vista|al\s+principio|supongamos)",
        perhaps=r"(?:podría|quizás?|tal\s+vez)",
        tail=r"(?:creo|sin\s+duda|pienso)",
        none=r"(?:ninguna|no\s|ni)",
        signs="el los una esto que en debe correcta hay pero respuesta opción opcion es elijo correcta creo sino",
    ),
    "pt": Language(
        answer=r"(?:gabarito|resposta|opç[ãa]o|alternativa|escolha|soluç[ãa]o|letra|conclus[ãa]o|resultado)",
        option=r"(?:(?:a|o)\s+)?(?:opç[ãa]o|resposta|letra|alternativa)",
        is_=r"(?:é|seja|seria|ser|parece(?:\s+ser)?)",
        choose=r"(?:(?:eu\s+|vou\s+)?(?:escolho|seleciono|escolheria|escolher|fico\s+com|ficaria\s+com"
        r"|opto\s+(?:por|pela)|diria|acho|acredito|penso|marco|voto\s+(?:em|na)|com)(?:\s+que(?:\s+é)?)?)",
        matches=r"(?:corresponde\s+[àa]|coincide\s+com|condiz\s+com)",
        right=r"(?:é|seria|parece)\s+(?:\w+mente\s+)?(?:a\s+)?(?:(?:resposta|opç[ãa]o"
        r"|alternativa)(?:\s+(?:correta|certa))?|corret[ao]|cert[ao]|mais\s+\w+|melhor(?:\s+\w+)?)",
        no=r"(?:não|nem|nunca|incorreta|errada|falsa|nenhuma|em\s+vez\s+de)",
        but=r"(?:mas(?:\s+sim)?|e\s+sim)",
        or_=r"(?:ou|e)",
        because=r"(?:porque|pois|já\s+que|devido|em|e\s+não|não|uma\s+vez|na|no)",
        so=r"(?:então|portanto|logo|assim|finalmente|por\s+isso)",
        fill=r"(?:é|a|o|isso|seja|ser|deve|seria|claramente|provavelmente|certamente|acho|acredito|que"
        r"|sim|correta|certa|minha|resposta|trata|se|de|\w+mente)",
        wait=r"(?:não(?=\s*[,.:!])|espere|espera|na\s+verdade|desculpe|correção|melhor|aliás|ou\s+melhor)",
        supposed=r"(?:se|alguns|à\s+primeira\s+vista|a\s+princípio|suponha)",
        perhaps=r"(?:poderia|talvez)",
        tail=r"(?:acho|creio|sem\s+dúvida)",
        none=r"(?:nenhuma|não|nem)",
        signs="isso uma não do da em que deve seja acredito gabarito conclusão mas resposta opção opcao é escolho alternativa correta não acho",
    ),
    "it": Language(
        answer=r"(?:quella|risposta|opzione|scelta|alternativa|soluzione|lettera|conclusione|risultato)",
        option=r"(?:la\s+|l'|il\s+|all'|alla\s+)?(?:opzione|risposta|lettera|alternativa)",
        is_=r"(?:è|sarebbe|essere|sembra(?:\s+essere)?|rimane)",
        choose=r"(?:(?:io\s+)?(?:scelgo|seleziono|sceglierei|direi|credo|penso|opto\s+per|opterei\s+per"
        r"|rispondo|voto|ritengo|punto\s+su)(?:\s+(?:che\s+sia|che\s+è|per|sia))?)",
        matches=r"(?:corrisponde(?:\s+a)?|coincide\s+con)",
        right=r"(?:è|sarebbe|sembra)\s+(?:\w+mente\s+)?(?:(?:la|quella|il)\s+)?(?:(?:risposta|opzione"
        r"|scelta)(?:\s+(?:corretta|giusta))?|corrett[ao]|giust[ao]|esatt[ao]|più\s+\w+|migliore)",
        no=r"(?:non|né|mai|errata|sbagliata|falsa|nessuna|invece\s+di)",
        but=r"(?:ma|bensì)",
        or_=r"(?:o|oppure|e)",
        because=r"(?:perché|poiché|dato|siccome|in|e\s+non|non|quindi|secondo)",
        so=r"(?:quindi|dunque|pertanto|perciò|infine|in\s+conclusione)",
        fill=r"(?:è|la|il|l'|deve|essere|sia|sarebbe|chiaramente|probabilmente|sicuramente|credo|penso"
        r"|che|sì|corretta|giusta|mia|risposta|si|tratta|di|della|\w+mente)",
        wait=r"(?:no(?=\s*[,.:!])|aspetta|in\s+realtà|scusa|scusate|correzione|anzi|piuttosto)",
        supposed=r"(?:se|alcuni|a\s+prima\s+vista|all'inizio|supponiamo)",
        perhaps=r"(?:potrebbe|forse)",
        tail=r"(?:credo|penso|senza\s+dubbio)",
        none=r"(?:nessuna|non|né)",
        signs="il che questo una di si nel deve essere giusta quella corrisponde soluzione conclusione ma pensavo risposta opzione è scelgo corretta penso quindi",
    ),
    "ru": Language(
        answer=r"(?:ответ\w*|вариант\w*|выбор|решение|вывод|итог|буква)",
        option=r"(?:вариант\w*|ответ|букв[аыу]|опци[яию])(?:\s+ответа)?",
        is_=r"(?:-+|это|является|будет|под\s+буквой|остаётся|остается|:)",
        choose=r"(?:(?:я\s+)?(?:бы\s+)?(?:\w+\s+)?(?:выбираю|выберу|выбрала?|выбрал\s+бы|склоняюсь\s+к"
        r"|думаю|считаю|полагаю|отвечаю|голосую\s+за|остановлюсь\s+на|останавливаюсь\s+на"
        r"|за)(?:,?\s*что)?(?:\s+это|\s+ответ)?)",
        matches=r"(?:соответствует|подходит|совпадает\s+с|указывает\s+на)",
        right=r"(?:-+\s*)?(?:(?:это\s+|является\s+|самый\s+|наиболее\s+)*(?:правильн|верн|подходящ"
        r"|вероятн|точн|лучш)\w*(?:\s+(?:ответ|вариант)\w*)?|верен|правилен|подходит(?:\s+лучше\s+всего)?)",
        no=r"(?:не|ни|нет|неверн\w+|неправильн\w+|ошибочн\w+|вместо|кроме)",
        but=r"(?:а|но)",
        or_=r"(?:или|и|либо)",
        because=r"(?:потому|так\s+как|поскольку|ведь|а\s+не|в|на|из-за)",
        so=r"(?:значит|итак|поэтому|таким\s+образом|следовательно|в\s+итоге|стало\s+быть)",
        fill=r"(?:верен|правилен|верна|это|скорее\s+всего|вероятно|очевидно|точно|думаю|я|что|да|явно"
        r"|конечно|видимо|ответ|мой|правильный|по-моему|должно|быть|-+)",
        wait=r"(?:нет(?=\s*[,.:!])|стоп|подождите|точнее|вернее|на\s+самом\s+деле|извините|исправлюсь"
        r"|исправление)",
        supposed=r"(?:если|некоторые|можно\s+было\s+бы|на\s+первый\s+взгляд|сначала|предположим)",
        perhaps=r"(?:возможно|может)",
        tail=r"(?:я\s+думаю|думаю|наверное|без\s+сомнений)",
        none=r"(?:ни\s+один|нет|не\s)",
    ),
    "ar": Language(
        answer=r"\w{0,3}(?:خلاصة|نتيجة|إجابة|اجابة|جواب|خيار|إجابتي|حل|اختيار|اختياري|حرف)",
        option=r"(?:ال)?(?:خيار|إجابة|اجابة|حرف|جواب|اختيار)",
        is_=r"(?:هي|هو|ستكون|تكون|يكون)",
        choose=r"(?:سأختار|أختار|اخترت|نختار|أعتقد\s+أن(?:ها|ه)?|أرى\s+أن(?:ها|ه)?|أظن\s+أن(?:ها|ه)?"
        r"|أميل\s+إلى|أرجح|أجيب\s+ب)",
        matches=r"(?:يتوافق\s+مع|يطابق|يتطابق\s+مع|تتوافق\s+مع|يشير\s+إلى)",
        right=r"(?:(?:هو|هي)\s+)?(?:ال)?(?:صحيح|أصح|صواب|أنسب|أفضل|إجابة)ة?",
        no=r"(?:ليس|ليست|لا(?!\s+بد|\s+شك)|لن|غير|خاطئة?|الخطأ)",
        but=r"(?:بل|لكن|وإنما)",
        or_=r"(?:أو|و|أم)",
        because=r"(?:لأن\w*|بسبب|حيث|نظرا|وليس|في|بما)",
        so=r"(?:لذلك|إذن|إذا|وبالتالي|بالتالي|لذا|ختاما)",
        fill=r"(?:لا\s+بد|إنها|إنه|أنها|أنه|لابد|بد|هي|هو|هذا|بالتأكيد|نعم|على\s+الأرجح|الإجابة|الصحيحة"
        r"|الجواب|بوضوح)",
        wait=r"(?:لا(?=\s*[,.:!])|انتظر|في\s+الواقع|عفوا|تصحيح|بل)",
        supposed=r"(?:إذا|لو|البعض|للوهلة\s+الأولى)",
        perhaps=r"(?:قد|ربما)",
        none=r"(?:لا\s|ليس|غير)",
    ),
    "zh": Language(
        answer=r"(?:答案|选项|選項|答|结论|結論|选择|選擇|结果|結果)",
        option=r"(?:选项|選項|答案|选择|選擇|选|選)",
        is_=r"(?:应该|應該|应当|应|應|就|当然|自然|显然|确实|還|还)*(?:是|为|為|选|選)",
        choose=r"(?:选择|選擇|选|選)(?:的是|了|定)?(?:项|項)?|(?:认为|認為|觉得|覺得|相信|猜|推断|判断|确定|倾向于?|傾向於?)(?:就|应该|應該"
        r"|答案)*(?:是|选|選)?",
        matches=r"(?:对应(?:的是|于)?|對應(?:的是|於)?|符合|匹配)",
        right=r"(?:选项|選項|项|項)?\s*(?:最|才|就|应该|應該|显然)*(?:是\s*)?(?:最)?(?:正确|正確|对的|對的|合适|合適|符合|贴切|答案|准确|準確)",
        no=r"(?:不(?!难|難|过|過|错|錯|仅|僅)|没|沒|未|非|别|排除|而非|错误|錯誤)",
        but=r"(?:而是|应该?是|應該?是|而|但|不过)",
        or_=r"(?:或者?|和|与|與|及|还是|還是)",
        because=r"(?:因为|因為|由于|而|,)",
        so=r"(?:所以|因此|故|综上|綜上|最终|最終|那么|于是|可见)",
        fill=r"(?:我|认为|認為|觉得|覺得|应该|應該|是|就|选|選|这|這|它|显然|肯定|大概|可能|当然|答案|正确|正確|的|为|為|此题|本题|本題|應|应)",
        wait=r"(?:不对|不對|等等|更正|抱歉|其实|其實|实际上|實際上|哦不)",
        supposed=r"(?:如果|假如|倘若|有人|乍一看|起初|假设|假設|你)",
        perhaps=r"(?:似乎|也许|或许|可能是)",
        tail=r"(?:选项|選項|项|項|选|選|无疑|吧|了|啊)",
        denied=r"(?:选项|項|项)?(?:是)?(?:错误|錯誤|不对|不是|不正)",
        none=r"(?:无|都不|没有|沒有|不)",
        is_spaced=False,
    ),
    "ja": Language(
        answer=r"(?:答え|正解|回答|解答|正答|選択肢|結論|答)",
        option=r"(?:選択肢|答え)",
        is_=r"(?:は|が|として(?:は)?)",
        choose=r"(?:(?:私|わたし|僕)は|なので|よって|したがって|だから)",
        right=r"\s*(?:番)?\s*(?:が|は)\s*(?:最も|一番|もっとも)*(?:正解|正し|答え|適切|妥当|当てはま|合って|ふさわし|近い)",
        no=r"(?:誤)",
        but=r"(?:ではなく|じゃなく(?:て)?|でなく)",
        or_=r"(?:か|または|や|と|もしくは|あるいは)",
        because=r"(?:なぜなら|から|ので|というのも)",
        so=r"(?:したがって|よって|そのため|つまり|だから|以上より|ゆえに|結論として)",
        fill=r"(?:それ|これ|は|おそらく|たぶん|きっと|間違いなく|はい|答え|正解|が|私|の|,)",
        wait=r"(?:いや|いえ|待って|訂正|すみません|やはり|やっぱり|実は)",
        supposed=r"(?:もし|なら|最初は|一見)",
        perhaps=r"(?:かもしれ)",
        chosen=r"\s*(?:番)?\s*(?:を|に)\s*(?:選|します|決め|する)",
        tail=r"(?:番)?(?:です|である|だ|になります|でしょう|と思います|と考え|を選|と判断|となります|と思われ)\w*",
        denied=r"\s*(?:ではな|じゃな|ではあり|は?\s*誤|は違)",
        none=r"(?:なし|ありません|該当)",
        is_spaced=False,
    ),
    "ko": Language(
        answer=r"(?:정답|답변|답|선택지|옵션|선택|결론)",
        option=r"(?:선택지|옵션|보기|정답|답)",
        is_=r"(?:은|는|이|가)",
        choose=r"(?:저는|나는|제|따라서|그러므로)",
        right=r"\s*(?:번)?\s*(?:이|가|은|는)\s*(?:가장\s*)?(?:정답|답|맞|옳|올바|적절|적합|정확)",
        no=r"(?:틀린|오답)",
        but=r"(?:이|가|은|는)?\s*(?:아니라|아니고|지만)",
        or_=r"(?:또는|혹은|이나|나|와|과|및)",
        because=r"(?:왜냐하면|때문)",
        so=r"(?:따라서|그러므로|그래서|결론적으로)",
        fill=r"(?:그것은|이것은|아마|분명히|네|정답|답|은|는|저는|제|생각에는|생각에)",
        wait=r"(?:아니,|아니요|잠깐|정정|사실은|죄송)",
        supposed=r"(?:만약|처음에는|언뜻)",
        chosen=r"\s*번?\s*(?:를|을|로|으로)\s*(?:선택|고르|고릅|택|하겠|결정|답|생각)",
        tail=r"번?(?:입니다|이다|이에요|예요|임|라고|이라고|인\s*것|일\s*것|같|으로|이\s*맞)[\w ]*",
        denied=r"\s*번?(?:이|가|은|는)?\s*(?:아니|아닙|틀)",
        none=r"(?:없음|없습니다|없다)",
        is_spaced=False,
    ),
}
"""By the code of the language."""


WORD_LISTS = tuple(f.name for f in fields(Language) if f.name not in ("signs", "is_spaced"))


def any_of(field: str, names: tuple[str, ...] = tuple(LANGUAGES)) -> str:
    """A group of one word list of some languages; words of spaced scripts only as whole words."""
    parts = []
    for name in names:
        language = LANGUAGES[name]
        words = getattr(language, field)
        if words:
            parts.append(rf"(?<![^\W_])(?:{words})(?!\w)" if language.is_spaced else f"(?:{words})")
    return "(?:" + "|".join(parts) + ")" if parts else r"(?!)"
