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
allgemein privat halbprivat fmh nr nummer garant di dipl ing mag lic geschlecht unfall gmbh ag aktuell aktuelle frage
fragestellung versicherung krankenkasse kasse betr
"""
_FIRST_NAMES = """
aaron abdullah achim ada adam adele adelheid adolf adrian agathe agnes ahmed aische alban albert alberto albrecht aldo
alessandra alessandro alex alexa alexander alexandra alfons alfred ali alice alina alma alois aloisia alwin amadeus
ambros amelie amira anabel anastasia anatol andrea andreas andrin andré angela angelika anita anja anke anna annabelle
anne annegret anneke annelies anneliese annemarie annemie annette anni annika ansgar anton antonia antonio apollonia
ariana ariane armin arnd arne arno arnold arnulf arthur artur astrid athanasios august aurel aurelia axel aylin ayse
balthasar barbara bartholomäus bastian beat beate beatrice beatrix ben benedikt benjamin benno bernadette bernardo
bernd bernhard berta bertha berthold berti bettina birgit björn blanka boris brigitta brigitte britta bronislaw bruno
burkhard camilla carina carla carlo carmen carola caroline caspar cedric chantal charlotte chiara christa christel
christian christiana christiane christina christine christl christof christoph clara claude claudia claudio claus
clemens constanze corina corinna cornelia cornelius cosima curdin cäcilia cécile cédric dagmar dalia dana daniel
daniela danuta daria dario david davide debora denis denise desirée detlef diana diego dieter dietlinde dietmar dino
dirk dominic dominik dominique donato dora doris dorothea dragan dragica duri ebba eberhard edda edelgard edeltraud
edeltraut edgar edith edmund eduard egbert egon ekkehard elena eleonora eleonore elfriede elia eliane elias elif elina
elisa elisabeth elise eliska elke ella ellen ellinor elmar elsa elsbeth elvira emanuel emil emilia emine emma emmerich
enrico enzo erdmute erhard eric erich erika erna ernestine ernst erwin erwina esra ester esther etienne eugen eugenie
eva evelyn evi ewa ewald fabian fabienne fabio fabrizio fadime fatma felicitas felix felizitas ferdi ferdinand
fernando fidelis fiona flavia flavio florian flurin flurina franca francesca francesco franco frank franz franziska
françois freya fridolin frieda frieder friederike friedhelm friedlinde friedrich frithjof fritz fränzi gabriel
gabriela gabriele gaby gebhard genoveva georg georgios gerald gerd gerda gerhard gerlinde gernot gero gerold gertrud
gertrude gesa gian giancarlo gianni giorgio giovanni gisela giulia giuseppe gottfried gottlieb gregor greta gudrun
guido gunda gunnar gunther guntram gustav gustl götz günter günther hanna hannah hannelies hannelore hannes hans
hansjörg hanspeter hansruedi harald hartmut hartwig hasan hatice hedwig heidemarie heidi heike heiko heiner heini
heinke heinrich heinrike heinz helen helena helene helga helmine helmut helmuth henning henny henriette henrik henrike
herbert hermann hermina hermine herta hilda hildburg hilde hildegard hiltrud hinrich holger horst hubert hugo hüseyin
ibrahim ida ignaz ilja ilka ilona ilse imke immanuel ina ines inga inge ingeborg ingo ingolf ingrid irena irene irina
iris irma irmela irmgard isa isabel isabella isabelle isidor ivan ivana ivo iwona jacob jacqueline jadwiga jakob jan
jana janina janine janis jannik janosch jaroslav jasmin jasna jasper jean jeannette jelena jennifer jenny jens
jeremias jessica joachim joana jochen joel johann johanna johanne johannes jolanda jolanthe jon jonas jonathan jorge
josef josefa josefine joseph josip joël joëlle juan judith jukka julia julian juliane julius justus jutta jörg jörn
jürg jürgen kai kaja kamila karin karl karla karlheinz karlo karolina karoline kasimir kaspar kata katharina kathrin
katja katrin kerstin kevin kilian kira kirsten klara klaus klemens knut konrad konstantin korbinian kordula kreszenz
kristina kunigunde kurt ladina lara larissa lars laura laurenz laurin layla lazar lea leander leberecht lena lennart
lenz leo leokadia leon leonhard leonie leonora leopold lia liam liane lieselotte liliane lilli lina linda linus lisa
lisbeth liselotte livia livio ljubica lorenz loris lothar lotte louis louise luana luca lucas lucia ludmila ludmilla
ludwig luis luise lukas luzia luzius lydia magda magdalena maik maike maja maksim malte manfred manuel manuela mara
marc marcel marcella marcin marco mareike marek margareta margarete margaretha margarethe margarita margit margot
margrit margrith maria marianne marie marija marijan marika marina mario marion marisa marius markus marlene marlies
marlis martha martin martina marvin mathias mathilde mats matteo matthias matthäus maurice maurizio maurus max
maximilian mechthild mechtild mehmet meike meinrad melanie melissa melitta mensur merle metin mia michael michaela
michelle mila milan milena mina mirela miriam mirjam mirjana mirko miroslav mohammed mona monika monique moritz murat
muriel mustafa nadia nadine nadja nando natalie natascha nathalie nathanael nelly nepomuk nick nico nicola nicolas
nicole niklas niklaus nikola nikolai nikolaus nils nina noah noemi nora norbert norma notburga noëmi olaf oleg olga
oliver olivia omar orsola ortrud ortwin oskar osman oswald otmar ottilie ottmar otto ottokar pablo pamela paolo pascal
patricia patrick patrizia paul paula pauline pavel petar peter petra philipp philippe philomena pia pierre piotr
pirmin pius quirin rade radovan rafael rahel raimund rainer rainhard ralf ralph ramona raoul raphael raul rebecca
rebekka regina regine regula reinhard reinhild reinhilde reinhold remo renate renato rené reto ricarda riccardo
richard richarda rico rita robert roger roland rolf roman romana romy ronald ronja rosa rosalia rosalinde rosemarie
rosina rosmarie rosmarin roswita roswitha rudolf ruedi rupert ruth sabina sabine sabrina salome samira samuel sandra
sandro sara sarah sascha sava sebastian selina selma senta sepp serafin serge sergio severin seyma sibylla sibylle
siegfried sieglinde siegmund siegrid sigmund sigrid sigurd silja silke silvan silvana silvia silvio simon simona
simone slavica slobodan snezana sofia solveig sonia sonja sophia sophie stanislaw stefan stefanie stefano steffen
stella stephan stephanie susann susanna susanne svea sven svenja sylvester sylvia sylvie sönke tabea tamara tamina
tamás tanja tatiana tatjana teodor teresa tessa thea thekla theo theodor theodora theresa therese theresia thierry
thomas thorben thorsten till tilman tilo tim timo timon tina titus tobias tom torben torsten traudl traugott traute
trudi trudy udo ueli ulf ulla ulrich ulrika ulrike urban urs ursina ursula urte ute uwe valentin valentina valeria
valerie vanessa vasile vera verena verona veronica veronika viktor viktoria vincent vincenzo vinzenz viola virginia
vito vitus vivien vladimir volker vroni walburg walburga waldemar walter waltraud waltraut waltraute wanda wendelin
wenzel werna werner wiebke wieland wilfried wilfriede wilhelm wilhelmine willi willy wilma winfrid winfried wladimir
wolf wolfgang wolfram xaver xenia yannick yannik yusuf yves yvonne zdenka zeynep zita zoe zoran zuzana ömer
"""
PARTICLES = frozenset(_PARTICLES.split())
NOT_A_NAME = frozenset(_NOT_A_NAME.split())
FIRST_NAMES = frozenset(_FIRST_NAMES.split())
"""Common first names: they tell the order of two names without a comma."""
