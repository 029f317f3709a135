"""Words that tell a name: particles, common first names, and words with a capital that are never one."""

from __future__ import annotations

_PARTICLES = "von van de der den zu zur zum dos da di del della dal la le al el ten ter vom und i y af"
_NOT_A_NAME = """
herr herrn frau patient patientin patienten kollege kollegin kollegen kolleginnen klinik spital krankenhaus praxis
sehr geehrte geehrter diagnose diagnosen arztbrief befund bericht abteilung station datum adresse name vorname telefon
fax strasse straße str januar februar märz april mai juni juli august september oktober november dezember wir ich sie
der die das dem den ein eine bei nach vor aus seit zur zum am im in mit und oder für ihr ihre ihren unser unsere
versicherte versicherter betreff betrifft damen herren universitätsklinik zuweisung überweisung einweisung anmeldung
ambulanz zentrum institut sekretariat notfall aufnahme entlassung eintritt austritt verlauf anamnese therapie labor
facharzt fachärztin arzt ärztin oberarzt oberärztin chefarzt chefärztin assistenzarzt assistenzärztin stationsarzt
stationsärztin primarin hausarzt hausärztin med dr prof univ ltd leitender leitende urologe neurologe kardiologe
chirurg internist telefonisch mutter vater sohn tochter ehemann ehefrau bruder schwester dieser diese dieses dass
geboren geb wohnhaft pat stationär stationäre ambulant ambulante behandlung untersuchung kontrolle medikation
allgemein privat halbprivat fmh gmbh ag aktuell aktuelle frage fragestellung versicherung krankenkasse kasse betr
"""
_FIRST_NAMES = """
achim adam adelheid adrian agnes albert albrecht alexander alexandra alfred alice alina alois amelie andrea andreas
andré angela angelika anita anja anke anna annabelle anne annegret anneliese annelies annemarie annette anni anton
antonia antonio ariane armin arnold arthur astrid august aurelia axel barbara bastian beat beate beatrice beatrix ben
benedikt benjamin bernadette bernd bernhard berta bertha bettina birgit björn brigitte britta bruno burkhard carina
carla carlo carmen carola caroline christa christian christiane christina christine christof christoph clara claudia
clemens corinna cornelia cécile dagmar daniel daniela david denise detlef diana dieter dietmar dirk dominik dora doris
dorothea eberhard edeltraud edith eduard egon elena elfriede elias elisabeth elke ella ellen elsa elsbeth emil emilia
emma eric erich erika erna ernst erwin esther eugen eva evelyn evi fabian fabienne felix ferdinand florian franz
franziska fridolin frieda friederike friedrich fritz gabriel gabriela gabriele georg gerald gerd gerda gerhard
gerlinde gero gertrud gertrude gesa gisela gottfried gregor greta gudrun guido günter günther gustav hanna hannah
hannelore hannes hans hansjörg hanspeter harald hartmut hedwig heidemarie heidi heike heiko heiner heinrich heinz
helene helga helmut helmuth henning henriette herbert hermann hermine herta hildegard holger horst hubert hugo ida
ilona ilse ines inge ingeborg ingo ingrid irene iris irma irmgard isabel isabella ivo jakob jan jana janine jasmin
jasper jean jens jessica joachim jochen johann johanna johannes jonas josef josefine joseph julia julian juliane jutta
jörg jürg jürgen kai karin karl karla karlheinz karolina kaspar katharina kathrin katja katrin kerstin kevin klara
klaus klemens konrad konstantin kristina kurt lara larissa lars laura lea leander lena leo leon leonhard leonie
leopold liane lieselotte lilli lina linda lisa liselotte lorenz lotte louis louise luca lucia lucas ludwig luis luise
lukas lydia magdalena maja manfred manuel manuela marc marcel marco margaretha margarete margot margrit margrith maria
marianne marie marina mario marion marius markus marlene marlies martha martin martina mathias mathilde matthias max
maximilian melanie melissa mia michael michaela michelle miriam mirjam monika monique moritz nadine nadja natalie
nathalie nicolas nicole niklas nils nina noah nora norbert oliver olga oskar oswald otto patricia patrick paul paula
pauline peter petra philipp pia pius rafael rahel rainer ralf ralph raphael rebecca regina regine regula reinhard
reinhold renate renato rené richard rita robert roger roland rolf roman rosa rosemarie roswitha rosmarie rudolf ruedi
ruth sabina sabine sabrina sandra sara sarah sascha sebastian selina sepp sibylle siegfried siegrid sigrid silke
silvan silvia simon simone sofia sonja sophia sophie stefan stefanie steffen stephan stephanie susanna susanne sven
svenja sylvia tamara tanja tatjana thea theo theodor theresa therese theresia thomas tim timo tina tobias tom traudl
udo ueli ulf ulrich ulrike urs ursula ute uwe valentin valentina vanessa vera verena veronika veronica viktor viktoria
vinzenz viola volker waldemar walburga walter waltraud wanda werner wilfried wilhelm willi willy winfried wolfgang
xaver yannick yvonne
"""
PARTICLES = frozenset(_PARTICLES.split())
NOT_A_NAME = frozenset(_NOT_A_NAME.split())
FIRST_NAMES = frozenset(_FIRST_NAMES.split())
"""Common first names: they tell the order of two names without a comma."""
